"""How names from a model file are shown: the data keep them whole, a screen does not."""

from __future__ import annotations

from difflib import get_close_matches

_SHOWN_CHARACTERS = 60  # a line of a table


def shorten(text: str, limit: int = _SHOWN_CHARACTERS) -> str:
    """One printable line of at most about `limit` characters."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: limit + 1])
    if len(text) <= limit and len(line) <= 2 * limit:
        return line
    return f"{line[: limit - 1]}… ({len(text):,} characters)"


def bytes_text(count: int) -> str:
    """A size as people say it: 438 MB, not 437,951,488."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def count_text(count: int) -> str:
    """A number of parameters as people say it: 110 M."""
    size = float(count)
    for unit in ("", " k", " M", " G"):
        if size < 999.5:
            return f"{size:.3g}{unit}"
        size /= 1000
    return f"{size:.3g} T"


def listed(names: list[str], limit: int = 8) -> str:
    """Some names in one line, and how many more there are."""
    shown = ", ".join(repr(shorten(name)) for name in names[:limit])
    more = len(names) - limit
    return (shown or "none") + (f" and {more} more" if more > 0 else "")


def nearest(wanted: str, names: list[str]) -> list[str]:
    """The names most like the wanted one, compared by their beginnings: a megabyte would take minutes."""
    short = {name[:200]: name for name in names[:2000]}
    return [short[match] for match in get_close_matches(wanted[:200], list(short), n=3, cutoff=0.5)]
