"""`workbench lab` before a server starts: the notebooks' copy and what the server is told."""

from __future__ import annotations

import json
import os
import re
from importlib.resources import files
from pathlib import Path

import nbformat
import pytest

from workbench.apps.cli import notebooks
from workbench.apps.cli.lab import COURSE, TOUR, cards, options, surroundings, tour
from workbench.apps.cli.notebooks import SHIPPED_DIGESTS, shipped_folder, writable_copy
from workbench.core.errors import WorkbenchError

MOST_CODE_LINES = 8
EXTENSION = files("workbench.apps.cli").joinpath(
    "jupyter", "labextensions", "ort-workbench-tour", "static", "remoteEntry.js"
)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shipped"
    (folder / "more").mkdir(parents=True)
    (folder / "one.ipynb").write_text("1")
    (folder / "more" / "two.ipynb").write_text("2")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "one.ipynb").write_text("old")
    monkeypatch.setattr(notebooks, "shipped_folder", lambda: folder)
    return folder


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != SHIPPED_DIGESTS)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_everything_is_copied_once(shipped: Path, tmp_path: Path) -> None:
    assert shipped.is_dir()
    target = writable_copy(tmp_path / "mine")
    assert contents(target) == {"one.ipynb": "1", "more/two.ipynb": "2"}


def test_an_update_replaces_only_what_was_left_alone(shipped: Path, tmp_path: Path) -> None:
    target = writable_copy(tmp_path / "mine")
    (target / "one.ipynb").write_text("my own work")
    (shipped / "one.ipynb").write_text("1, better")
    (shipped / "more" / "two.ipynb").write_text("2, better")
    (shipped / "three.ipynb").write_text("3")
    writable_copy(target)
    assert contents(target) == {"one.ipynb": "my own work", "more/two.ipynb": "2, better", "three.ipynb": "3"}


def notebook(source: str, *outputs: str) -> str:
    """A notebook as JupyterLab saves it after a run: with outputs, counts and metadata of its own."""
    cell = nbformat.v4.new_code_cell(source, execution_count=1 if outputs else None, id="one")
    cell.outputs = [nbformat.v4.new_output("stream", text=text) for text in outputs]
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell], metadata={"theirs": len(outputs)}))


def test_running_a_notebook_is_no_edit_and_its_results_are_kept(shipped: Path, tmp_path: Path) -> None:
    (shipped / "run.ipynb").write_text(notebook("1"))
    target = writable_copy(tmp_path / "mine")
    (target / "run.ipynb").write_text(notebook("1", "what it said"))
    writable_copy(target)
    assert "what it said" in (target / "run.ipynb").read_text(), "nothing is new, so nothing is touched"
    (shipped / "run.ipynb").write_text(notebook("2"))
    writable_copy(target)
    assert (target / "run.ipynb").read_text() == notebook("2")
    assert "what it said" in (target / "run (before 1).ipynb").read_text()


def test_an_edited_notebook_is_never_replaced(shipped: Path, tmp_path: Path) -> None:
    (shipped / "run.ipynb").write_text(notebook("1"))
    target = writable_copy(tmp_path / "mine")
    (target / "run.ipynb").write_text(notebook("1 + 1", "2"))
    (shipped / "run.ipynb").write_text(notebook("2"))
    writable_copy(target)
    assert (target / "run.ipynb").read_text() == notebook("1 + 1", "2")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 1}', '{"cells": ["x"]}'])
def test_what_only_looks_like_a_notebook_is_compared_as_it_is(
    shipped: Path, tmp_path: Path, text: str
) -> None:
    (shipped / "odd.ipynb").write_text(text)
    target = writable_copy(tmp_path / "mine")
    (shipped / "odd.ipynb").write_text(text + " ")
    writable_copy(target)
    assert (target / "odd.ipynb").read_text() == text + " "


def test_a_cell_without_a_source_is_the_users_own_work(shipped: Path, tmp_path: Path) -> None:
    target = writable_copy(tmp_path / "mine")
    (target / "one.ipynb").write_text('{"cells": [{"cell_type": "code", "source": null}]}')
    (shipped / "one.ipynb").write_text("new")
    writable_copy(target)
    assert "null" in (target / "one.ipynb").read_text()


def test_the_cell_that_opens_by_itself_shows_the_workbench() -> None:
    settings = tour()
    assert settings["path"] == TOUR
    assert "wb.Workbench(" in settings["source"]


def test_each_card_of_the_launcher_opens_a_shipped_file_or_has_its_code() -> None:
    paths = [card["path"] for card in cards()]
    assert paths == [COURSE, TOUR]
    assert all((shipped_folder() / path).is_file() for path in paths)
    script = EXTENSION.read_text(encoding="utf-8")
    assert "wb.Workbench()" in script, "the card of every JupyterLab"
    assert 'path: "workbench.ipynb"' in script
    assert not (shipped_folder() / "workbench.ipynb").exists()


def test_the_list_of_the_course_leads_to_each_lesson_once() -> None:
    folder = (shipped_folder() / COURSE).parent
    linked = re.findall(r"\]\(([^)]+)\)", (shipped_folder() / COURSE).read_text(encoding="utf-8"))
    lessons = [path.name for path in folder.glob("*.ipynb")]
    assert sorted(linked) == sorted([*lessons, "../packs/serving/README.md"])
    assert all((folder / name).is_file() for name in linked)


def test_a_damaged_list_loses_no_work(shipped: Path, tmp_path: Path) -> None:
    target = writable_copy(tmp_path / "mine")
    (target / SHIPPED_DIGESTS).write_text("{")
    (shipped / "one.ipynb").write_text("1, better")
    writable_copy(target)
    assert contents(target)["one.ipynb"] == "1"


def test_a_read_only_install_gives_writable_copies(shipped: Path, tmp_path: Path) -> None:
    (shipped / "one.ipynb").chmod(0o444)
    assert (writable_copy(tmp_path / "mine") / "one.ipynb").stat().st_mode & 0o200


def test_a_folder_that_cannot_be_made_is_a_clear_error(shipped: Path, tmp_path: Path) -> None:
    assert shipped.is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkbenchError, match="cannot be copied"):
        writable_copy(tmp_path / "file" / "below")


def test_the_server_is_for_this_user_only(tmp_path: Path) -> None:
    settings = dict(
        option.removeprefix("--").split("=", 1) for option in options(tmp_path, "127.0.0.1", 8888, False)
    )
    assert settings["ServerApp.ip"] == "127.0.0.1"
    assert settings["ServerApp.open_browser"] == "False"
    assert len(settings["IdentityProvider.token"]) >= 32
    again = options(tmp_path, "127.0.0.1", 8888, False)
    assert f"--IdentityProvider.token={settings['IdentityProvider.token']}" not in again
    assert TOUR in settings["LabApp.default_url"]
    assert (shipped_folder() / TOUR).is_file()


def test_kernels_find_a_checkout_and_users_settings_stay() -> None:
    given = {"PYTHONPATH": "theirs", "JUPYTER_CONFIG_PATH": "theirs too"}
    settings = surroundings(Path("/src/clone"), given)
    assert settings["PYTHONPATH"] == os.pathsep.join([str(Path("/src/clone")), "theirs"])
    assert settings["JUPYTER_CONFIG_PATH"].endswith(os.pathsep + "theirs too")
    installed = surroundings(Path("/env/lib/python3.11/site-packages"), {})
    assert list(installed) == ["JUPYTER_CONFIG_PATH"]
    overrides = Path(installed["JUPYTER_CONFIG_PATH"], "labconfig", "default_setting_overrides.json")
    assert (
        json.loads(overrides.read_text())["@jupyterlab/apputils-extension:notification"]["fetchNews"]
        == "false"
    )


@pytest.mark.parametrize("path", sorted(shipped_folder().rglob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_valid_short_and_without_outputs(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    for cell in book.cells:
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= MOST_CODE_LINES
            assert cell.outputs == []
            assert cell.execution_count is None
