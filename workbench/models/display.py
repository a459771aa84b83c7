"""How names from a model file are shown: the data keep them whole, a screen does not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from textwrap import wrap

_SHOWN_CHARACTERS = 60  # a line of a table
_SHOWN_PATH = 240
_LINE = 100  # of a terminal
_GUESSED_CHARACTERS = 200


def printable(text: str, keep: str = "") -> str:
    """What a terminal obeys (control characters, escape sequences, marks of direction) becomes visible."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def shorten(text: str, limit: int = _SHOWN_CHARACTERS) -> str:
    """One printable line of at most about `limit` characters."""
    line = printable(text[: limit + 1])
    if len(text) <= limit and len(line) <= 2 * limit:
        return line
    return f"{line[: limit - 1]}… ({len(text):,} characters)"


def key(name: str) -> str:
    """What is left of a name for guessing by it: lower case and short, or a pattern takes forever."""
    return name[:_GUESSED_CHARACTERS].lower()


def path_text(path: Path) -> str:
    """A path in one printable line; of a very long one the end, since that says which file it is."""
    text = printable(str(path))
    return text if len(text) <= _SHOWN_PATH else f"…{text[-_SHOWN_PATH:]}"


def aligned(rows: Iterable[tuple[str, str]], column: int) -> str:
    """Names and values under one another, for a terminal; a long value goes on below itself."""
    lines = []
    for name, value in rows:
        indent = " " * (column + 2)
        whole = [
            wrap(part, _LINE - column - 2, break_long_words=False, break_on_hyphens=False)
            for part in value.split("\n")
        ]
        told = [line for part in whole for line in part or [""]]
        lines.append(f"  {name:<{column}}" + f"\n{indent}".join(told))
    return "\n".join(line.rstrip() for line in lines)


def counted(count: int, one: str, many: str | None = None) -> str:
    """1 pass, 8 passes."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def bytes_text(count: int) -> str:
    """A size as people say it: 438 MB, not 437,951,488."""
    return _scaled(count, (" B", " kB", " MB", " GB", " TB"))


def count_text(count: int) -> str:
    """A number of parameters as people say it: 110 M."""
    return _scaled(count, ("", " k", " M", " G", " T"))


def _scaled(count: int, units: tuple[str, ...]) -> str:
    if count >= 10**15:  # only in a broken model, and then possibly beyond any float
        return f"over 1000{units[-1]}"
    size = float(count)
    for unit in units:
        if size < 999.5 or unit == units[-1]:
            break
        size /= 1000
    return f"{size:.3g}{unit}"


def listed(names: list[str], limit: int = 8) -> str:
    """Some names in one line, and how many more there are."""
    shown = ", ".join(repr(shorten(name)) for name in names[:limit])
    more = len(names) - limit
    return (shown or "none") + (f" and {more} more" if more > 0 else "")


def nearest(wanted: str, names: list[str]) -> list[str]:
    """The names most like the wanted one, compared by their beginnings: a megabyte would take minutes."""
    short = {name[:200]: name for name in names[:2000]}
    return [short[match] for match in get_close_matches(wanted[:200], list(short), n=3, cutoff=0.5)]
