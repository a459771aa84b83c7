"""Only a published file is served, only unchanged, only to its owner."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import workbench as wb
from tests.apps.server.conftest import tiny_model
from workbench.apps.server import published_files
from workbench.apps.server.files import netron_page
from workbench.apps.server.links import netron_link
from workbench.apps.server.published_files import PublishedError, find, open_file, publish

pytestmark = pytest.mark.usefixtures("own_home")


def test_files_of_a_kernel_that_died_are_removed_after_the_same_time(file: Path) -> None:
    place = published_files.folder()
    for name in ("orphan.trace", "damaged.json", "young.trace", "not-ours.txt"):
        (place / name).write_bytes(b"{")
        old = time.time() - published_files.LIFE_S - 1
        os.utime(place / name, None if name == "young.trace" else (old, old))
    id = publish("netron", file, "a title")
    assert {path.name for path in place.iterdir()} == {"young.trace", "not-ours.txt", f"{id}.json"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"model")
    return path


def test_a_published_file_is_found_and_read(file: Path) -> None:
    entry = find(publish("netron", file, "a title"), "netron")
    assert (entry.title, entry.size_bytes) == ("a title", 5)
    with open_file(entry) as opened:
        assert opened.read() == b"model"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_model_whose_name_is_no_text_has_a_page(tmp_path: Path) -> None:
    path = tiny_model(tmp_path / "model.onnx").rename(os.fsdecode(os.fsencode(tmp_path) + b"/net\xff.onnx"))
    link = netron_link(wb.load(path))
    assert link.title == "net\\udcff"
    assert link.title.encode() in netron_page(find(link.relative.split("/")[2], "netron").title)


def test_a_model_that_was_removed_is_an_error_with_a_fix(tmp_path: Path) -> None:
    model = wb.load(tiny_model(tmp_path / "model.onnx"))
    model.path.unlink()
    with pytest.raises(PublishedError, match=r"model\.onnx cannot be shown: .*\nFix: open the model again"):
        netron_link(model)


def test_ids_are_random_and_kinds_are_kept_apart(file: Path) -> None:
    first, second = publish("netron", file, "a title"), publish("netron", file, "a title")
    assert first != second
    with pytest.raises(PublishedError, match="unknown here"):
        find(first, "speedscope")


@pytest.mark.parametrize("id", ["", "..", "../../etc/passwd", "a" * 31, "a" * 33, "a" * 31 + "\n", "é" * 32])
def test_an_id_of_another_form_is_refused(id: str) -> None:
    with pytest.raises(PublishedError):
        find(id, "netron")


@pytest.mark.skipif(sys.platform == "win32", reason="the user's folder is private by where it is")
def test_the_folder_and_its_entries_must_be_private(file: Path) -> None:
    id = publish("netron", file, "a title")
    place = published_files.folder()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE((place / f"{id}.json").stat().st_mode) == 0o600
    (place / f"{id}.json").chmod(0o666)
    with pytest.raises(PublishedError, match="unknown here"):
        find(id, "netron")
    place.chmod(0o777)
    with pytest.raises(PublishedError, match="written by others"):
        find(id, "netron")


def test_a_link_in_its_place_is_refused(file: Path, tmp_path: Path) -> None:
    id = publish("netron", file, "a title")
    entry = published_files.folder() / f"{id}.json"
    moved = tmp_path / "elsewhere.json"
    entry.rename(moved)
    entry.symlink_to(moved)
    with pytest.raises(PublishedError, match="unknown here"):
        find(id, "netron")


def test_a_model_behind_a_link_is_served_but_no_link_put_in_its_place(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link.onnx").symlink_to(file)  # as in the cache of a model hub
    entry = find(publish("netron", tmp_path / "link.onnx", "a title"), "netron")
    open_file(entry).close()
    secret = tmp_path / "secret"
    secret.write_bytes(b"12345")
    os.utime(secret, ns=(entry.modified_ns, entry.modified_ns))
    file.unlink()
    file.symlink_to(secret)
    with pytest.raises(PublishedError, match="changed, replaced or removed"):
        open_file(entry)


@pytest.mark.parametrize("change", ["replace", "append", "remove", "folder"])
def test_another_file_is_not_served(file: Path, tmp_path: Path, change: str) -> None:
    entry = find(publish("netron", file, "a title"), "netron")
    if change == "replace":
        other = tmp_path / "other"
        other.write_bytes(b"other")
        os.utime(other, ns=(entry.modified_ns, entry.modified_ns))
        other.replace(file)
    elif change == "append":
        file.write_bytes(b"model and more")
    else:
        file.unlink()
        if change == "folder":
            file.mkdir()
    with pytest.raises(PublishedError, match="changed, replaced or removed"):
        open_file(entry)


def test_entries_expire_and_their_own_files_with_them(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = published_files.folder() / "x.onnx"
    id = published_files.new_id()
    made = published_files.folder() / f"{id}.onnx"
    published_files.write_private(made, b"structure")
    publish("netron", made, "large", id=id, made=True)
    kept = publish("netron", file, "a title")
    later = time.time() + published_files.LIFE_S + 1
    monkeypatch.setattr(published_files.time, "time", lambda: later)
    with pytest.raises(PublishedError, match="older than a week"):
        find(kept, "netron")
    publish("netron", file, "again")
    assert not made.exists()
    assert len(list(published_files.folder().iterdir())) == 1
    assert file.exists(), "a user's own model is never removed"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"kind": "netron"}', b"\xff", b"[" * 99_999])
def test_a_damaged_entry_is_none(content: bytes) -> None:
    id = published_files.new_id()
    published_files.write_private(published_files.folder() / f"{id}.json", content)
    with pytest.raises(PublishedError, match="unknown here"):
        find(id, "netron")
    published_files.clear()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("expires_s", "never"),
        ("expires_s", float("nan")),
        ("title", 7),
        ("path", 1),
        ("path", None),
        ("kind", ["netron"]),
        ("size_bytes", "5"),
        ("size_bytes", True),
        ("inode", {}),
        ("made", "yes"),
    ],
)
def test_an_entry_of_wrong_types_is_none(file: Path, field: str, value: object) -> None:
    id = publish("netron", file, "a title")
    path = published_files.folder() / f"{id}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(PublishedError, match="unknown here"):
        find(id, "netron")


def test_a_path_that_no_file_can_have_is_refused(file: Path) -> None:
    entry = find(publish("netron", file, "a title"), "netron")
    for path in ("with\0zero", "a" * 6_000):
        with pytest.raises(PublishedError, match="changed, replaced or removed"):
            open_file(replace(entry, path=path))


def test_the_button_names_the_extension_as_jupyter_finds_it() -> None:
    script = (files("workbench.apps.server") / "static" / "button.js").read_text("utf-8")
    folder = files("workbench.apps.cli") / "jupyter" / "jupyter_server_config.d"
    config = json.loads((folder / "ort-workbench.json").read_text("utf-8"))
    (module,) = config["ServerApp"]["jpserver_extensions"]
    assert f"extension enable {module}," in re.sub(r'"\s*\+ "', "", script)
