"""Run the shipped notebooks and write them with their pictures, for readers without a kernel.

`python -m docs.publish` writes docs/published/, on a machine with no other load.
`WORKBENCH_BUDGET=short python -m docs.publish course/NAME.ipynb` writes one lesson, with short measurements.
`python -m docs.publish --to FOLDER --whole NAME.ipynb` runs one notebook and keeps all its outputs.
`--seconds 10` stands in for the budget that a notebook for users names as a number.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

import workbench
from docs.pictures import with_few_colors
from workbench.apps.cli.lab import surroundings
from workbench.core.text import one_line

HERE = Path(__file__).parent
SHIPPED = HERE.parent / "notebooks"
MOST_BYTES = 600_000
LONGEST_ALT = 400  # characters of a picture's alternative text
COLORS = 64  # figures are flat; a picture shrinks to a third
WIDGET = "application/vnd.jupyter.widget-view+json"
LIVE = ("application/vnd.plotly.v1+json", WIDGET)  # needs a kernel or a page with scripts
PNG = "image/png"
OWN_SECONDS = re.compile(r"^seconds = \d+$", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="such as course/01_….ipynb; default: all shipped notebooks")
    parser.add_argument("--to", type=Path, default=HERE / "published")
    parser.add_argument("--whole", action="store_true", help="keep what only a page or a kernel can show")
    parser.add_argument("--seconds", type=float, help="in place of a notebook's own `seconds = NUMBER`")
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or published_names():
        book = run(SHIPPED / name, arguments.seconds)
        target = arguments.to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(book if arguments.whole else strip(book), target)
        size = target.stat().st_size
        print(f"{target}: {size:,} bytes", flush=True)
        if not arguments.whole and size > MOST_BYTES:
            raise SystemExit(f"{target} is larger than {MOST_BYTES:,} bytes: show less in it")


def published_names() -> list[str]:
    """Return the notebooks that are published: those for users, the numbered lessons, and the packs."""
    paths = [
        path
        for pattern in ("*.ipynb", "course/[0-9]*.ipynb", "packs/*/*.ipynb")
        for path in SHIPPED.glob(pattern)
    ]
    return sorted(path.relative_to(SHIPPED).as_posix() for path in paths)


def run(path: Path, seconds: float | None = None) -> nbformat.NotebookNode:
    """Return the notebook, executed in a folder and a kernel of its own; raise the error of a cell.

    `seconds` takes the place of the number of seconds that it names as the budget of a measurement.
    """
    os.environ.update(surroundings(Path(workbench.__file__).parents[1], os.environ))
    book = nbformat.read(path, as_version=4)
    for cell in book.cells if seconds is not None else ():
        cell.source = OWN_SECONDS.sub(f"seconds = {seconds:g}", cell.source)
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        NotebookClient(book, timeout=None, store_widget_state=False, resources=where).execute()
        assert folder not in nbformat.writes(book), "an output names a folder of this machine"
    return book


def strip(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook with what a code host shows: pictures, tables, text."""
    book.metadata.pop("widgets", None)
    for cell in book.cells:
        cell.metadata.pop("execution", None)  # when it ran
        cell.outputs = [output for output in map(_stripped, cell.get("outputs", [])) if output is not None]
        if cell.cell_type != "code":
            del cell["outputs"]
    return book


def _stripped(output: Any) -> Any | None:
    if output.output_type == "stream":
        return output if output.name == "stdout" else None  # progress bars
    data = output.data
    if output.output_type == "display_data" and set(data) == {WIDGET, "text/plain"}:
        return None  # a progress bar that has come to its end
    for kind in LIVE:
        data.pop(kind, None)
    if PNG in data:
        data[PNG] = _small(data[PNG])
        output.metadata.setdefault(PNG, {})["alt"] = alternative_text(data.get("text/plain", ""))
    return output if data else None


def alternative_text(words: str) -> str:
    """Return what a picture says as sentences in one line, as many as fit, for readers who do not see it."""
    lines = [line.strip().removeprefix("- ") for line in words.strip("<>").splitlines()]
    sentences = [line if line.endswith((".", ":", ";")) else f"{line}." for line in lines if line]
    while len(sentences) > 1 and len(" ".join(sentences)) > LONGEST_ALT:
        sentences.pop()
    return one_line(" ".join(sentences), LONGEST_ALT)


def _small(picture: str) -> str:
    """Return the picture with few colours."""
    opened = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGBA")
    page = Image.new("RGBA", opened.size, "white")
    page.alpha_composite(opened)  # a code host may be dark
    flat, made = with_few_colors(page.convert("RGB"), COLORS), io.BytesIO()
    flat.save(made, "PNG", optimize=True)
    smaller = base64.b64encode(made.getvalue()).decode("ascii")
    return min(picture, smaller, key=len)


if __name__ == "__main__":
    main()
