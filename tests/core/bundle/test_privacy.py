"""Paths of this machine are cut; what only looks like a path is left."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.bundle.privacy import without_paths

TEMPORARY = tempfile.gettempdir()


@pytest.mark.parametrize(
    "text",
    [
        "/encoder/layer.0/attention/MatMul",
        "node /model/no such folder/Add_1 fell back",
        "https://example.org/usr/lib/x.onnx",
        "1/2 of 3/4",
        "and/or",
        "/",
        "a \\ b",
        "C:\\Users\\nobody\\x.onnx",
        "float32[1,3] / int8",
        f"{TEMPORARY.lstrip('/')}/x",
        f"model{TEMPORARY}/x",
    ],
)
def test_left_alone(text: str) -> None:
    assert without_paths(text) == text


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (
            f"Load model from {TEMPORARY}/my models/net.onnx failed",
            "Load model from …/net.onnx failed",
        ),
        (f"{Path.home()}/x.onnx", "…/x.onnx"),
        (f"'{Path.cwd()}'", "'…'"),
        ("in /usr/lib/libonnx.so.1, line 3", "in …/libonnx.so.1, line 3"),
        ("path=/usr/lib/x", "path=…/x"),
        ("(/usr/lib/x)", "(…/x)"),
        ("/usr/lib/", "…/lib"),
        (f"file://{TEMPORARY}/x", "file:…/x"),
        (f"{TEMPORARY}/my models/of ada/net.onnx", "…/net.onnx"),
        ("/usr/lib/x and /usr/lib/y", "…/x and …/y"),
        ("/usr/lib/x of /encoder/layer.0/MatMul", "…/x of /encoder/layer.0/MatMul"),
    ],
)
def test_cut(text: str, cut: str) -> None:
    assert without_paths(text) == cut


def test_a_path_with_spaces_is_cut_to_the_end_of_what_exists(tmp_path: Path) -> None:
    folder = tmp_path / "the secret project" / "of ada"
    folder.mkdir(parents=True)
    (folder / "my net.onnx").touch()
    assert without_paths(f"Load {folder}/my net.onnx failed") == "Load …/my net.onnx failed"
    assert without_paths(f"{folder}/my net.onnx {folder}/my net.onnx") == "…/my net.onnx …/my net.onnx"


@pytest.mark.parametrize("name", ["acme (2)", "ada, eve", "a [b] {c}", "ada's", "a;b", "a & b #1"])
def test_folders_with_commas_and_brackets_are_cut_too(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / name
    folder.mkdir(parents=True)
    (folder / "net.onnx").touch()
    assert without_paths(f"{folder}/net.onnx") == "…/net.onnx"
    assert without_paths(f"Load '{folder}/net.onnx' failed: no") == "Load '…/net.onnx' failed: no"
    assert without_paths(f"no {folder}/lost.onnx (1/2)") == "no …/lost.onnx (1/2)"


def test_everywhere_in_a_record_and_in_its_keys() -> None:
    data = {"/usr/lib/key": ["/usr/lib/x", {"a": "/usr/lib/x", "b": 3, "c": None}]}
    assert without_paths(data) == {"…/key": ["…/x", {"a": "…/x", "b": 3, "c": None}]}


@given(st.text(max_size=40))
def test_a_second_time_changes_nothing(text: str) -> None:
    once = without_paths(text)
    assert without_paths(once) == once


@pytest.mark.parametrize(
    "text", ["https://host/models/net.onnx", "//host/share/net.onnx", '…/{"CACHE_DIR": "/net/host/cache"}']
)
def test_hosts_and_paths_of_elsewhere_are_not_looked_up(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at `//host/share` asks that host on Windows, and one at `/net/host` where it is mounted."""
    looked_up: list[str] = []
    monkeypatch.setattr(os.path, "lexists", lambda path: bool(looked_up.append(path)))
    assert without_paths([text]) == [text]
    assert looked_up == []
