"""How values and near misses are worded in errors: short, quoted, never a megabyte of a stranger's text."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable

MOST_SHOWN = 80  # characters of a received value that an error repeats
ALLOW = "or set allow_unknown=True to pass it on as it is"


def shown(value: object) -> str:
    """A value as an error repeats it; a long text is cut before it is quoted."""
    if isinstance(value, str) and len(value) > MOST_SHOWN:
        return f"{value[:MOST_SHOWN]!r}… ({len(value):,} characters)"
    try:
        text = reprlib.repr(value) if isinstance(value, list | tuple | dict | set) else repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, lists in lists in lists
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}… ({type(value).__name__})"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was most likely meant; None when nothing comes close."""
    import difflib  # only an error needs it

    by_folded = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(name.casefold()[:200], by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that names the nearest known name, or an empty text."""
    close = nearest(name, known)
    return f"Did you mean {close!r}? " if close else ""


def listed(names: Iterable[str]) -> str:
    """Names in one line: 'a', 'b' and 'c'."""
    quoted = [repr(name) for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)
