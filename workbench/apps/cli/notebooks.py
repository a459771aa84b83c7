"""The shipped notebooks, and a copy of them that the user may change."""

from __future__ import annotations

import hashlib
import json
import shutil
from itertools import count
from pathlib import Path
from typing import Any

from workbench.core.errors import WorkbenchError
from workbench.core.home import data_folder

SHIPPED_DIGESTS = ".shipped.json"  # of notebooks: an update replaces only those that are unchanged


def shipped_folder() -> Path:
    """Return the folder of the notebooks: inside the package when installed, beside it in a checkout."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "_notebooks", package.parent / "notebooks"):
        if folder.is_dir():
            return folder
    raise WorkbenchError(
        "the notebooks are missing from this installation",
        "install it again: pip install --force-reinstall ort-workbench",
    )


def writable_copy(target: Path | None = None) -> Path:
    """Update the user's notebooks: add new ones, update untouched ones, keep changed ones."""
    source, target = shipped_folder(), target or data_folder() / "notebooks"
    try:
        target.mkdir(parents=True, exist_ok=True)
        written = _written(target)
        for file in sorted(source.rglob("*")):
            name = file.relative_to(source).as_posix()
            if not file.is_file() or "/." in f"/{name}" or "__pycache__" in name:
                continue
            mine = target / name
            if mine.exists():
                ours = _digest(mine) == written.get(name)
                if _digest(mine) == _digest(file) or not ours:  # unchanged, or the user's own work
                    continue
                if _was_run(mine):
                    mine.replace(_free_name(mine))  # outputs belong to the user too
            mine.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, mine)  # contents only: a read-only install makes no read-only copies
            written[name] = _digest(mine)
        (target / SHIPPED_DIGESTS).write_text(json.dumps(written, indent=1), encoding="utf-8")
    except OSError as error:
        raise WorkbenchError(
            f"the notebooks cannot be copied to {target}: {error.strerror or error}",
            "free some space or make the folder writable, or set WORKBENCH_HOME to another folder",
        ) from error
    return target


def keep_own_copy(file: Path, shipped: Path) -> Path | None:
    """Rename the user's copy, so that a new one can take its place; None if it is as shipped, or absent."""
    if not file.exists() or file.read_bytes() == shipped.read_bytes():
        return None
    kept = _free_name(file)
    file.replace(kept)
    return kept


def _written(target: Path) -> dict[str, str]:
    try:
        digests = json.loads((target / SHIPPED_DIGESTS).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # first copy, or a file that the user damaged
        return {}
    return {str(name): str(digest) for name, digest in digests.items()} if isinstance(digests, dict) else {}


def _digest(file: Path) -> str:
    """Hash the sources of the cells, which running and autosave leave unchanged."""
    content = file.read_bytes()
    book = _notebook(file)
    if book is not None:
        cells = [
            (cell.get("cell_type"), "".join(map(str, cell.get("source") or ""))) for cell in book["cells"]
        ]
        content = json.dumps(cells).encode("utf-8")
    return hashlib.sha256(content).hexdigest()


def _was_run(file: Path) -> bool:
    book = _notebook(file) if file.exists() else None
    return book is not None and any(cell.get("outputs") for cell in book["cells"])


def _notebook(file: Path) -> dict[str, Any] | None:
    """Return a notebook's content, or None for another file."""
    try:
        book = json.loads(file.read_bytes()) if file.suffix == ".ipynb" else None
    except ValueError:
        return None
    cells = book.get("cells") if isinstance(book, dict) else None
    right = isinstance(cells, list) and all(isinstance(cell, dict) for cell in cells)
    return book if right else None


def _free_name(file: Path) -> Path:
    names = (file.with_name(f"{file.stem} (before {number}){file.suffix}") for number in count(1))
    return next(name for name in names if not name.exists())
