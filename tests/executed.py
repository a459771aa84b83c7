"""The shipped notebooks as they are after a run; run once for all tests that look at them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from workbench.apps.cli.notebooks import shipped_folder

if TYPE_CHECKING:
    import nbformat

NAMES = sorted(path.name for path in shipped_folder().glob("*.ipynb"))
LESSONS = sorted(f"course/{path.name}" for path in shipped_folder().glob("course/[0-9]*.ipynb"))
PACKS = sorted(
    path.relative_to(shipped_folder()).as_posix() for path in shipped_folder().glob("packs/*/*.ipynb")
)
TEMPLATE = "course/template.ipynb"
ROOT = Path(__file__).parents[1]
Executed = Callable[[str], Path]


@pytest.fixture(scope="session")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Executed:
    """Gives the path of this notebook, executed. Elsewhere: browser tests hold this event loop."""
    folder = tmp_path_factory.mktemp("executed")

    def run(name: str) -> Path:
        if not (folder / name).exists():
            command = [sys.executable, "-m", "docs.publish", "--whole", "--to", str(folder), name]
            command += ["--seconds", "10"]
            surroundings = {**os.environ, "WORKBENCH_BUDGET": "short"}
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=surroundings)
            assert done.returncode == 0, done.stderr
        return folder / name

    return run


def solved(lesson: str, cell: str, **given: Any) -> Any:
    """What the last line of this cell of a lesson gives with these names."""
    book = json.loads((shipped_folder() / "course" / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    (source,) = ("".join(row["source"]) for row in book["cells"] if row.get("id") == cell)
    *before, last = source.rstrip().splitlines()
    exec("\n".join(before), given)
    return eval(last, given)


def sections(book: nbformat.NotebookNode) -> dict[str, list[nbformat.NotebookNode]]:
    """The code cells below each heading."""
    cells: dict[str, list[nbformat.NotebookNode]] = {}
    title = ""
    for cell in book.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            title = cell.source.splitlines()[0].removeprefix("## ")
        elif cell.cell_type == "code":
            cells.setdefault(title, []).append(cell)
    return cells


def pictures(book: nbformat.NotebookNode) -> int:
    """How many pictures its outputs hold."""
    return sum("image/png" in out.get("data", {}) for cell in book.cells for out in cell.get("outputs", []))
