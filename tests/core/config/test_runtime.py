"""A config may run on the ONNX Runtime of another environment; files keep its name, never its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.core.config.strategies import refused
from workbench.core.bundle.privacy import without_paths
from workbench.core.config import Config, runtime
from workbench.core.errors import ConfigError


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A folder that looks like a virtual environment."""
    folder = tmp_path / "other env" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)
    return folder.parent


def test_the_environment_or_its_interpreter_may_be_named(environment: Path) -> None:
    python = str(environment / "bin" / "python")
    assert Config(runtime=str(environment)).interpreter == python
    assert Config(runtime=python).interpreter == python  # not what the link points to: that is another one
    assert Config().interpreter == sys.executable


@pytest.mark.skipif(os.name != "posix", reason="the system has no bit for what may be executed")
def test_what_cannot_be_started_is_refused_with_what_to_do_when_it_is_used(tmp_path: Path) -> None:
    text = tmp_path / "python"
    text.write_text("no program")
    for wrong, words in (
        (str(tmp_path / "nowhere" / "python"), "no such interpreter"),
        (str(tmp_path), "no such interpreter"),
        (str(text), "may not be executed"),
        ("/" + "x" * 5000, "runtime='/xxx"),
    ):
        config = Config(runtime=wrong)
        error = refused(lambda config=config: config.interpreter)
        assert error is not None
        assert words in error.problem
        assert "bin/python" in error.fix


@pytest.mark.parametrize(("wrong", "words"), [("python", "no path"), ("", "no path"), ("/a\0b", "NUL")])
def test_what_is_no_path_is_refused_at_once(wrong: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Config(runtime=wrong)


def test_a_config_asks_the_machine_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError("the config looked at the machine")

    for name in ("stat", "lstat", "access", "open", "readlink", "getcwd"):
        monkeypatch.setattr(os, name, asked)
    config = Config(runtime="env/bin/python", level="all")
    assert Config.from_dict(config.to_dict()) == config
    assert config.diff(Config(level="all"))
    with pytest.raises(AssertionError):
        _ = config.interpreter


def test_a_file_keeps_the_name_and_not_the_place(environment: Path) -> None:
    config = Config(runtime=str(environment / "bin" / "python"), providers=["openvino"])
    assert Config.from_dict(config.to_dict()) == config
    shared = without_paths({"config": config.to_dict()})
    assert shared == {
        "config": {
            "providers": [{"name": "OpenVINOExecutionProvider", "options": {}}],
            "runtime": "…/other env/bin/python",
        }
    }


def test_a_recorded_runtime_is_read_anywhere_and_started_nowhere() -> None:
    config = Config.from_dict({"runtime": "…/openvino/bin/python"})
    assert str(Config().diff(config)) == (
        "B differs from A in: runtime (openvino instead of this environment's ORT)"
    )
    with pytest.raises(ConfigError, match="'openvino' of the machine that recorded it"):
        _ = config.interpreter


def test_what_people_call_it() -> None:
    assert runtime.name_of("/home/ada/ov/bin/python3.11") == "ov"
    assert runtime.name_of(r"C:\envs\ov\Scripts\python.exe") == "ov"
    assert runtime.name_of("/usr/local/bin/python") == "local"
    assert runtime.recorded("/opt/launcher") == "…/launcher"


def test_the_printed_script_says_which_python_it_is_for(environment: Path) -> None:
    script = Config(runtime=str(environment)).to_python("m.onnx")
    assert script.splitlines()[0] == (
        f"# for the ONNX Runtime of another environment: run it with {str(environment)!r}"
    )
    compile(script, "script", "exec")
