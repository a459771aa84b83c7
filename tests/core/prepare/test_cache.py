"""The cache of prepared models: whole or not there, shared by processes, bounded."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.amount import amount
from tests.core.worker.harness import interpreter
from workbench.core import home
from workbench.core.prepare import cache

pytestmark = pytest.mark.usefixtures("own_home")


def made(text: str = "model") -> Any:
    def make(folder: Path) -> tuple[dict[str, Any], float]:
        (folder / "model.onnx").write_text(text)
        return {}, 0.0

    return make


def never(_folder: Path) -> tuple[dict[str, Any], float]:
    raise AssertionError("it was there already")


def test_made_once() -> None:
    first = cache.entry("a", made())
    again = cache.entry("a", never)
    assert (first.fresh, again.fresh) == (True, False)
    assert again.model.read_text() == "model"
    assert again.answer == first.answer


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path, Path], object]] = {
    "content": lambda model, _: model.write_text("modem"),
    "missing": lambda model, _: model.unlink(),
    "pipe": lambda model, _: _pipe(model),
    "folder": lambda model, _: _folder(model),
    "half a note": lambda _, note: note.write_text("{"),
    "no text": lambda _, note: note.write_bytes(b"\xff"),
    "deep note": lambda _, note: note.write_text("[" * 100_000),
    "large note": lambda _, note: note.write_text("[" + "0," * 20_000_000 + "0]"),
    "no answer": lambda _, note: note.write_text(note.read_text().replace('"answer"', '"other"')),
    "note is a pipe": lambda _, note: _pipe(note),
    "note is a folder": lambda _, note: _folder(note),
}


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_made_again(damage: str) -> None:
    path = cache.entry("a", made()).model
    DAMAGES[damage](path, path.parent / cache.ENTRY_FILE)
    again = cache.entry("a", made())
    assert again.fresh
    assert again.model.read_text() == "model"


@pytest.mark.parametrize("name", ["other.onnx", "../stranger.onnx", "/etc/hostname"])
@pytest.mark.parametrize("listed", [True, False])
def test_a_note_that_names_another_file_is_none(name: str, listed: bool) -> None:
    path = cache.entry("a", made()).model
    note = json.loads((path.parent / cache.ENTRY_FILE).read_text())
    stranger = path.parent / name
    if not stranger.exists():
        stranger.write_text("a stranger's")
    digest = hashlib.sha256(stranger.read_bytes()).hexdigest()
    note["files"] = {name: digest} if listed and name != "other.onnx" else {}
    (path.parent / cache.ENTRY_FILE).write_text(json.dumps({**note, "model": name}))
    again = cache.entry("a", made())
    assert again.fresh
    assert again.model.read_text() == "model"


def test_a_failure_leaves_nothing() -> None:
    def fail(folder: Path) -> tuple[dict[str, Any], float]:
        (folder / "model.onnx").write_text("half")
        raise wb.PrepareError("no", "change it")

    with pytest.raises(wb.PrepareError):
        cache.entry("a", fail)
    assert cache.entry("a", made()).fresh


_WORK = """
import sys, time
from collections.abc import Callable
from pathlib import Path
from workbench.core.prepare import cache
def make(folder):
    print("making", flush=True)
    (folder / "model.onnx").write_text("half")
    if sys.argv[1] == "hang":
        time.sleep(1000)
    (folder / "model.onnx").write_text("model")
    return {}, 0.0
print("fresh" if cache.entry("a", make).fresh else "cached", flush=True)
"""


def other(word: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _WORK, word], stdout=subprocess.PIPE, text=True)


@pytest.mark.thorough
def test_processes_at_once_make_it_once_between_them() -> None:
    workers = [other("go") for _ in range(amount(4, 2))]
    outputs = [process.communicate()[0].split() for process in workers]
    assert [process.returncode for process in workers] == [0] * len(workers)
    if os.name == "posix":
        assert sum("making" in words for words in outputs) == 1
    assert cache.entry("a", never).model.read_text() == "model"


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_waiting_for_another_process_can_be_cancelled_and_its_death_blocks_nobody() -> None:
    cancel = threading.Event()
    cancel.set()
    with other("hang") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "making\n"
        with pytest.raises(wb.Cancelled):
            cache.entry("a", made(), cancel=cancel)
        process.kill()
    again = cache.entry("a", made())
    assert again.model.read_text() == "model"
    assert not [path for path in again.model.parent.parent.iterdir() if "making" in path.name]


def test_the_longest_unused_go_first_and_those_in_use_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [cache.entry(name, made("x" * 1000)).model for name in "abc"]
    for age, path in zip((9000, 8000, 7000), paths, strict=True):
        long_ago = time.time() - age
        for file in (path.parent, *path.parent.iterdir()):
            os.utime(file, (long_ago, long_ago))
    cache.trim(most_bytes=2900)
    assert [path.exists() for path in paths] == [False, True, True]
    cache.entry("b", never)  # used now
    cache.trim(most_bytes=0)
    assert [path.exists() for path in paths] == [False, True, False]
    for bound in ("plenty", "inf"):
        monkeypatch.setenv("WORKBENCH_PREPARED_GB", bound)
        with pytest.raises(wb.PrepareError, match="no number"):
            cache.trim()


def test_an_entry_is_removed_whole() -> None:
    path = cache.entry("a", made()).model
    cache.remove(path.parent)
    assert not path.exists()
    assert not [path for path in (home.cache_folder() / "prepared").iterdir() if path.is_dir()]


@pytest.mark.real
def test_a_prepared_model_is_found_again_and_remade_when_damaged() -> None:
    config = wb.Config(precision=wb.DynamicInt8())
    first = wb.prepare("digits-vit", config)
    assert not any(step.cached for step in first.steps)
    assert all(step.cached for step in wb.prepare("digits-vit", config).steps)
    output = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, check=True).stdout
    assert json.loads(output) == [True, True]
    damaged = bytearray(first.model.path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    first.model.path.write_bytes(damaged)
    again = wb.prepare("digits-vit", config)
    assert [step.cached for step in again.steps] == [True, False]
    assert again.record.sha256 == first.record.sha256


@pytest.mark.real
def test_a_graph_saved_by_another_environment_is_saved_anew_by_its_next_onnxruntime(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    python = interpreter(tmp_path, f'PYTHONPATH="{packages}" exec "$PYTHON" "$@"')
    config = wb.Config(saved_graph="ort", runtime=python)
    cached = []
    for version in ("1.20.0", "1.20.0", "1.21.0"):
        shutil.rmtree(packages, ignore_errors=True)
        info = packages / f"onnxruntime-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: onnxruntime\nVersion: {version}\n")
        cached += [step.cached for step in wb.prepare("digits-conv", config).steps]
    assert cached == [False, True, False]


_ASK = """
import json, workbench as wb
steps = wb.prepare("digits-vit", wb.Config(precision=wb.DynamicInt8())).steps
print(json.dumps([step.cached for step in steps]))
"""


@pytest.mark.real
@pytest.mark.parametrize("key", ["before", "notes", "fused"])
def test_an_entry_whose_answer_misses_a_key_is_made_again(key: str) -> None:
    config = wb.Config(fusion=wb.TransformerFusion())
    first = wb.prepare("digits-vit", config)
    note = first.model.path.parent / cache.ENTRY_FILE
    data = json.loads(note.read_text())
    del data["answer"][key]
    note.write_text(json.dumps(data))
    again = wb.prepare("digits-vit", config)
    assert [step.cached for step in again.steps] == [False]
    assert again.record.sha256 == first.record.sha256


@pytest.mark.real
def test_a_job_is_killed_when_it_is_cancelled() -> None:
    cancel = threading.Event()
    steps: list[str] = []

    def on_step(name: str) -> None:
        steps.append(name)
        cancel.set()

    with pytest.raises(wb.Cancelled):
        wb.prepare("digits-vit", wb.Config(precision=wb.DynamicInt8()), cancel=cancel, on_step=on_step)
    assert steps == ["pre-processing"]
    assert not list((home.cache_folder() / "prepared").glob("*making*"))
