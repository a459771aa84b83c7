"""A config may run on the ONNX Runtime of another environment; files keep its name, never its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.config.strategies import refused
from workbench.config import Config, runtime
from workbench.errors import ConfigError
from workbench.records.privacy import without_paths


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A folder that looks like a virtual environment."""
    folder = tmp_path / "other env" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)
    return folder.parent


def test_the_environment_or_its_interpreter_may_be_named(environment: Path) -> None:
    python = str(environment / "bin" / "python")
    assert Config(runtime=str(environment)) == Config(runtime=python)
    assert Config(runtime=python).interpreter == python  # not what the link points to: that is another one
    assert Config().interpreter == sys.executable


@pytest.mark.skipif(os.name != "posix", reason="the system has no bit for what may be executed")
def test_what_cannot_be_started_is_refused_with_what_to_do(tmp_path: Path) -> None:
    text = tmp_path / "python"
    text.write_text("no program")
    for wrong, words in (
        (str(tmp_path / "nowhere" / "python"), "no such interpreter"),
        (str(tmp_path), "no such interpreter"),
        (str(text), "may not be executed"),
        ("python", "no path"),
        ("/a\0b", "NUL"),
        ("/" + "x" * 5000, "runtime='/xxx"),
    ):
        error = refused(lambda wrong=wrong: Config(runtime=wrong))
        assert error is not None
        assert words in error.problem
        assert words == "NUL" or "bin/python" in error.fix


def test_a_file_keeps_the_name_and_not_the_place(environment: Path) -> None:
    config = Config(runtime=str(environment), providers=["openvino"])
    assert Config.from_dict(config.to_dict()) == config
    shared = without_paths({"config": config.to_dict()})
    assert shared == {
        "config": {
            "providers": [{"name": "OpenVINOExecutionProvider", "options": {}}],
            "runtime": "…/other env/bin/python",
        }
    }


def test_a_recorded_runtime_is_read_anywhere_and_started_nowhere(tmp_path: Path) -> None:
    for written in ("…/openvino/bin/python", "/nowhere/openvino/bin/python"):
        config = Config.from_dict({"runtime": written})
        assert config.runtime == "…/openvino/bin/python"
        assert str(Config().diff(config)) == (
            "B differs from A in: runtime (openvino instead of this environment's ORT)"
        )
        with pytest.raises(ConfigError, match="'openvino' of the machine that recorded it"):
            _ = config.interpreter
    program = tmp_path / "delete-everything"
    program.symlink_to(sys.executable)
    assert Config.from_dict({"runtime": str(program)}).runtime == "…/delete-everything"


def test_what_people_call_it() -> None:
    assert runtime.name_of("/home/ada/ov/bin/python3.11") == "ov"
    assert runtime.name_of(r"C:\envs\ov\Scripts\python.exe") == "ov"
    assert runtime.name_of("/usr/local/bin/python") == "local"
    assert runtime.recorded("/opt/launcher") == "…/launcher"


def test_the_printed_script_says_which_python_it_is_for(environment: Path) -> None:
    script = Config(runtime=str(environment)).to_python("m.onnx")
    assert script.splitlines()[0] == (
        f"# for the ONNX Runtime of another environment: run it with {str(environment / 'bin' / 'python')!r}"
    )
    compile(script, "script", "exec")
