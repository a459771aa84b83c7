"""Slides of a notebook: what it asks, the figures that a run left in it, what to remember.

Each deck is one page that needs no network: arrow keys turn it, and printing gives a slide on each sheet.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.atomic import write_atomically
from workbench.core.errors import ConfigError
from workbench.core.stored_files import made_folder
from workbench.core.text import one_line

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_SLIDES = 12
_MOST_BYTES = 20_000_000  # of a notebook
_MOST_PIXELS = 20_000_000  # of a picture
_LETTERS = 400  # of a paragraph
_WIDTH, _HEIGHT = 1184, 560  # of a picture on a slide of 1280×720
_FITS = 1.2  # times the height: such a picture shrinks, a taller one continues on a second slide
_SMALL = 0.6  # of the height: below such a picture its sentence has room
_INLINE = ((r"\*\*(.+?)\*\*", "b"), (r"\*(.+?)\*", "i"), (r"`(.+?)`", "code"))
_MALFORMED = (ValueError, LookupError, TypeError, AttributeError, OSError, RecursionError, SyntaxError)
_STYLE, _SCRIPT = (Path(__file__).with_name("static") / f"slides.{kind}" for kind in ("css", "js"))


@dataclass(frozen=True, slots=True)
class _Figure:
    """A picture of a notebook: what it says, and the question above it."""

    picture: Image
    sentence: str
    question: str


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of a notebook below one heading."""

    heading: str
    paragraphs: list[str]
    figures: list[_Figure]


def write_slides(notebooks: Path, target: Path) -> dict[Path, int]:
    """Write a deck for each numbered notebook of a folder; return how many slides each has."""
    paths = sorted(notebooks.expanduser().glob("[0-9]*.ipynb"))
    if not paths:
        raise ConfigError(
            f"{notebooks} holds no lesson", "give the folder with the notebooks of the course, after a run"
        )
    slides = {path.stem: slides_of(path) for path in paths}
    folder = made_folder(target)
    decks = {folder / f"{name}.html": deck for name, deck in slides.items()}
    for path, deck in decks.items():
        write_atomically(path, _page(deck).encode("utf-8"))
    return {path: len(deck) for path, deck in decks.items()}


def slides_of(path: Path) -> list[str]:
    """Return the slides of a notebook that was run, as HTML: title, questions, figures, what to remember."""
    title, *parts = _sections(path)
    figures = [(part.heading, figure) for part in parts for figure in part.figures]
    if not figures:
        raise ConfigError(
            f"{path.name} holds no picture", "run the notebook and save it, then make the slides"
        )
    first, last = parts[0], parts[-1]
    start = [_texts(title.heading, title.paragraphs[:1], "title"), _texts(first.heading, first.paragraphs)]
    room = MOST_SLIDES - len(start) - 1
    spare = room - len(figures)  # slides on which a tall picture continues
    middle: list[str] = []
    for heading, figure in figures[:room]:
        pieces = _pieces(figure.picture)[: 2 if spare > 0 else 1]
        spare -= len(pieces) - 1
        middle += [_slide(heading, figure, piece) for piece in pieces]
    return [*start, *middle, _texts(last.heading, last.paragraphs)]


def _sections(path: Path) -> list[_Section]:
    if path.stat().st_size > _MOST_BYTES:
        raise ConfigError(f"{path.name} is larger than {_MOST_BYTES:,} bytes", "clear what is not displayed")
    sections: list[_Section] = []
    try:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                blocks = "".join(cell["source"]).strip().split("\n\n")
                if blocks[0].startswith("#"):
                    sections.append(_Section(blocks.pop(0).lstrip("# "), [], []))
                sections[-1].paragraphs.extend(blocks)
            for output in cell.get("outputs", ()):
                if "image/png" in output.get("data", {}):
                    sections[-1].figures.append(_figure(output, sections[-1].paragraphs))
    except _MALFORMED as error:
        raise ConfigError(f"{path.name} is no notebook of a lesson: {error}", "give a lesson") from error
    if len(sections) < 3:
        raise ConfigError(f"{path.name} has no three headings", "begin a lesson with the template")
    return sections


def _figure(output: dict[str, Any], before: list[str]) -> _Figure:
    """Return a picture on white, with what it says, and what the paragraphs before it ask."""
    from PIL import Image

    data = output["data"]
    try:
        opened = Image.open(io.BytesIO(base64.b64decode("".join(data["image/png"]))), formats=("PNG",))
    except Image.DecompressionBombError as error:
        raise ValueError("a picture is too large") from error
    if opened.width * opened.height > _MOST_PIXELS:
        raise ValueError("a picture is too large")
    drawn = opened.convert("RGBA")
    page = Image.new("RGBA", drawn.size, "white")
    page.alpha_composite(drawn)
    words = "".join(data.get("text/plain", "")).strip("<>").splitlines() or [""]
    asked = next((text for text in reversed(before) if "**" in text), "")
    question = " ".join(re.findall(r"\*\*(.+?)\*\*", asked))
    return _Figure(page.convert("RGB"), one_line(words[0], _LETTERS), one_line(question, 160))


def _pieces(picture: Image) -> list[Image]:
    """Return a picture, or of one that is too tall for a slide what fits on two."""
    room = max(1, round(picture.width * _HEIGHT / _WIDTH))
    first = _top(picture, room)
    if first is picture:
        return [picture]
    return [first, _top(picture.crop((0, first.height, picture.width, picture.height)), room)]


def _top(picture: Image, room: int) -> Image:
    """Cut a picture where a line of it holds least, as between two rows."""
    if picture.height <= _FITS * room:
        return picture
    cut = min(range(room, room // 2, -1), key=lambda line: _ink(picture, line))
    return picture.crop((0, 0, picture.width, cut))


def _ink(picture: Image, line: int) -> int:
    """Return how many pixels of a line are not its background."""
    counts = picture.crop((0, line, picture.width, line + 1)).getcolors(picture.width) or []
    return picture.width - max(count for count, _ in counts)


def _texts(heading: str, paragraphs: list[str], kind: str = "words") -> str:
    items = [line for text in paragraphs for line in text.splitlines() if "ipynb" not in line]
    body = "".join(f"<p>{_inline(one_line(item, _LETTERS))}</p>" for item in items)
    return f'<section class="{kind}"><h1>{_inline(heading)}</h1>{body}</section>'


def _slide(heading: str, figure: _Figure, picture: Image) -> str:
    file = io.BytesIO()
    picture.quantize(64).save(file, "PNG")
    source = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
    is_small = picture.height / picture.width < _SMALL * _HEIGHT / _WIDTH
    caption = figure.sentence.partition("; ")[0] if is_small else ""
    return (
        f"<section><h2>{_inline(heading)}</h2><p>{_inline(figure.question)}</p>"
        f'<img alt="{escape(figure.sentence)}" src="{source}"><p>{escape(caption)}</p></section>'
    )


def _inline(text: str) -> str:
    """Return a line of Markdown as HTML; links keep their words alone."""
    line = escape(re.sub(r"\[(.+?)\]\(.+?\)", r"\1", text))
    for pattern, tag in _INLINE:
        line = re.sub(pattern, rf"<{tag}>\1</{tag}>", line)
    return line


def _page(slides: list[str]) -> str:
    script = _SCRIPT.read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    title = re.sub("<.*?>", "", slides[0].partition("</h1>")[0])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{_STYLE.read_text(encoding='utf-8')}</style>{''.join(_numbered(slides))}<script>{script}</script></html>"
    )


def _numbered(slides: list[str]) -> Iterator[str]:
    for number, slide in enumerate(slides, 1):
        yield slide.replace("</section>", f"<footer>{number} / {len(slides)}</footer></section>")
