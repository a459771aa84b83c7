"""Versions by number: their environments are made once, kept, listed, and refused with what to do."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

import workbench as wb
from tests.core.models import tiny
from workbench.core.home import cache_folder
from workbench.core.measure.limits import Progress

REFUSED = """import sys
print("ERROR: Could not find a version that satisfies the requirement onnxruntime==9.9.0 (from versions: {})")
sys.exit(1)
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in for venv and pip: this interpreter with modules of ours of these names."""
    folder = tmp_path / "tools"
    folder.mkdir()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nshift\nname=$1\nshift\nexec "{sys.executable}" {folder}/$name.py "$@"\n')
    python.chmod(0o755)
    venv = (
        "import pathlib, shutil, sys\n"
        "place = pathlib.Path(sys.argv[1]) / 'bin'\n"
        "place.mkdir(parents=True)\n"
        f"shutil.copy({str(python)!r}, place / 'python')\n"
    )
    (folder / "venv.py").write_text(venv)
    log = str(tmp_path / "asked.txt")
    (folder / "pip.py").write_text(
        f"import sys\nopen({log!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10))\n"
    )
    monkeypatch.setattr("workbench.core.worker.environments.sys.executable", str(python))
    return folder


def environments_of(monkeypatch: pytest.MonkeyPatch, *places: str, progress: Any = False) -> list[str | None]:
    """Ask for versions, and return the environments that would be measured."""
    seen: list[str | None] = []

    def software(config: wb.Config, _cancel: object) -> dict[str, str]:
        seen.append(config.runtime)
        if len(seen) == len(places):
            raise wb.Cancelled("seen enough", "")
        return {}

    monkeypatch.setattr("workbench.features.variants.versions.software_of", software)
    with pytest.raises(wb.Cancelled):
        wb.compare_versions("digits-conv", list(places), progress=progress, keep=False)
    return seen


@pytest.mark.usefixtures("own_home")
def test_an_environment_is_made_once_and_kept(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [str(cache_folder() / "versions" / name) for name in ("1.18.1", "1.27.0")]
    told: list[Progress] = []
    for _ in range(2):
        assert environments_of(monkeypatch, "1.18.1", "1.27.0", progress=told.append) == places
    assert [now.doing for now in told] == [
        "installing ONNX Runtime 1.18.1", "installing ONNX Runtime 1.27.0",
    ]  # fmt: skip
    asked = tools.parent.joinpath("asked.txt").read_text().splitlines()
    assert [line.split()[-2:] for line in asked] == [
        ["onnxruntime==1.18.1", "numpy<2"], ["onnxruntime==1.27.0", "numpy"],
    ]  # fmt: skip
    assert [row.entry_count for row in wb.storage().rows if row.name == "versions"] == [2]
    assert wb.storage().remove("versions") > 0
    assert not Path(places[0]).exists()


@pytest.mark.parametrize(
    ("known", "words", "fix"),
    [
        ("1.27.0, 1.31.1", "there is no ONNX Runtime 9.9.0 for this Python", "1.27.0, 1.31.1"),
        (
            "none",
            "ONNX Runtime 9.9.0 is not kept on this machine, and pip reached no",
            "pip install onnxruntime==9.9.0",
        ),
    ],
)
@pytest.mark.usefixtures("own_home")
def test_a_version_that_cannot_be_had(tools: Path, known: str, words: str, fix: str) -> None:
    tools.joinpath("pip.py").write_text(REFUSED.format(known))
    with pytest.raises(wb.WorkbenchError, match=words) as caught:
        wb.compare_versions("digits-conv", ["9.9.0"], keep=False)
    assert fix in caught.value.fix
    assert not list((cache_folder() / "versions").iterdir()), "a half-made environment is not kept"


@pytest.mark.usefixtures("own_home")
def test_pips_own_trouble_is_said(tools: Path) -> None:
    tools.joinpath("pip.py").write_text("import sys\nsys.exit('ERROR: No space left on device')\n")
    with pytest.raises(wb.WorkbenchError, match="pip failed: ERROR: No space left on device"):
        wb.compare_versions("digits-conv", ["9.9.0"], keep=False)


@pytest.mark.usefixtures("own_home")
def test_releases_that_are_not_known_offline(tools: Path) -> None:
    tools.joinpath("pip.py").write_text(
        "import sys\nif sys.argv[1] == 'index':\n    sys.exit('No matching distribution found for x')\n"
    )
    with pytest.raises(wb.WorkbenchError, match=r"releases between 1\.20\.1 and 1\.27\.0 are") as caught:
        wb.compare_versions("digits-conv", ["1.20.1", "1.27.0"], bisect=True, keep=False)
    assert "pip reached no package index" in caught.value.problem
    assert "kept on this machine: '1.20.1'" in caught.value.fix


@pytest.mark.usefixtures("own_home")
def test_the_environment_of_a_quicker_process_is_used(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = cache_folder() / "versions" / "1.27.0"
    tools.joinpath("pip.py").write_text(
        f"import pathlib\nplace = pathlib.Path({str(place)!r})\nplace.mkdir()\n(place / 'theirs').touch()\n"
    )
    assert environments_of(monkeypatch, "1.27.0", "/x")[0] == str(place)
    assert [path.name for path in place.parent.iterdir()] == ["1.27.0"]
    assert [path.name for path in place.iterdir()] == ["theirs"]


@pytest.mark.usefixtures("own_home")
def test_installing_is_stopped(tools: Path) -> None:
    tools.joinpath("pip.py").write_text("import time\ntime.sleep(600)\n")
    stop = threading.Event()
    with pytest.raises(wb.Cancelled):
        wb.compare_versions("digits-conv", ["1.27.0"], progress=lambda _: stop.set(), cancel=stop, keep=False)
    assert not list((cache_folder() / "versions").iterdir())


def test_a_path_is_no_version(monkeypatch: pytest.MonkeyPatch, tools: Path) -> None:
    assert environments_of(monkeypatch, "./1.18.1", "/x/1.18.1") == ["./1.18.1", "/x/1.18.1"]
    assert not tools.parent.joinpath("asked.txt").exists()


@pytest.mark.real
@pytest.mark.slow
def test_two_versions_by_number_are_installed_and_compared() -> None:
    versions, told = ["1.24.1", "1.27.0"], list[str]()
    for _ in range(2):
        told.clear()
        result = wb.compare_versions(
            "digits-conv", versions, budget_s=1, progress=lambda now: told.append(now.doing), keep=False
        )
        assert [row.onnxruntime for row in result.record.rows] == versions
        assert all(row.latency_s for row in result.record.rows)
    assert not any("installing" in doing for doing in told), "the environments of the first time are used"


@pytest.mark.real
@pytest.mark.release
def test_the_release_that_counts_the_last_window_of_a_pool_otherwise(tmp_path: Path) -> None:
    """A dilated pool whose last window goes beyond the image has other outputs since 1.21.0."""
    pool = helper.make_node(
        "AveragePool", ["x"], ["y"], "pool",
        kernel_shape=[3, 3], strides=[3, 3], dilations=[2, 2], count_include_pad=1, ceil_mode=1,
    )  # fmt: skip
    model = tiny.save(
        tiny.model([pool], [tiny.tensor("x", [1, 4, 31, 31])], [tiny.tensor("y", None)]), tmp_path
    )
    releases = ["1.20.1", "1.24.1", "1.27.0"]
    result = wb.compare_versions(
        model, releases, wb.Config(), bisect=True, budget_s=1, progress=False, keep=False
    )
    assert [row.onnxruntime for row in result.record.rows] == releases[:2]
    assert result.record.changed == "outputs"
    assert "| B | y | no |" in result.report()
