"""Texts for people: printable, short, in a list, with the nearest name, numbers with their unit.

Names come from models, bundles and traces that anybody may have written: each can be a megabyte long, and can
hold what a terminal obeys.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterable
from pathlib import Path

SHORT = 60  # characters of a name in a message or in a cell of a terminal's table
LINE = 240  # characters of a text in a figure or on a page
QUOTED = 80  # characters of a received value that an error repeats
TERMINAL = 100  # columns
COMPARED = 200  # characters of a name that a guess looks at: a megabyte would take minutes
# Spans of an interval, end by end: a ratio is written as it is, then with "about", then as "at least".
NARROW, WIDE = 1.22, 2.0
_SAID_S = (1, 2, 5, 10, 15, 20, 30, 45, 60)  # times as people say them
_CANDIDATES = 2000  # names that a guess looks at


def printable(text: str, keep: str = "") -> str:
    """Make what a terminal obeys (control characters, escape sequences, marks of direction) visible."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def without_colors(text: str) -> str:
    """Return the text without a terminal's escape sequences for colors."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def one_line(text: str, limit: int = LINE) -> str:
    """Return the text printable, in one line and cut; not escaped for any markup."""
    if len(text) <= limit and text.isprintable():
        return " ".join(text.split())
    start = "".join(" " if letter.isspace() else letter for letter in text[: limit + 1])
    line = " ".join(printable(start).split())
    return line if len(text) <= limit and len(line) <= 2 * limit else f"{line[: limit - 1]}…"


def shorten(text: str, limit: int = SHORT) -> str:
    """Return one printable line of about `limit` characters, with the text's length if it is cut."""
    line = printable(text[: limit + 1])
    if len(text) <= limit and len(line) <= 2 * limit:
        return line
    return f"{line[: limit - 1]}… ({len(text):,} characters)"


def ending(text: str, limit: int) -> str:
    """Return the end of a long text in one line; of the path of a node, it says which node it is."""
    end = one_line(text[-limit:], limit)
    return end if len(text) <= limit else f"…{end}"


def shorten_middle(text: str, limit: int) -> str:
    """Cut the middle of a message: its reason stands first or last, what makes it long between them."""
    half = limit // 2
    left_out = len(text) - 2 * half
    return text if left_out <= 0 else f"{text[:half]}… ({left_out:,} characters left out) …{text[-half:]}"


def file_name(name: str, unnamed: str = "model") -> str:
    """Return a name, which may hold anything, as it may stand in a path and an address."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:SHORT] or unnamed


def path_text(path: Path) -> str:
    """Return a path in one printable line; of a very long path the end, which says which file it is."""
    text = printable(str(path))
    return text if len(text) <= LINE else f"…{text[-LINE:]}"


def public_address(text: str) -> str:
    """Return an address without possible secrets: user, password, query; any other text as it is."""
    scheme, is_address, rest = text.partition("://")
    if not is_address:
        return text
    host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def has_login(text: str) -> bool:
    """Return whether a text is an address with a user or a password."""
    return re.match(r"[^/?#]*://[^/?#]*@", text) is not None


def quoted(value: object) -> str:
    """Return any value as an error repeats it; a long text is cut before it is quoted."""
    if isinstance(value, str) and len(value) > QUOTED:
        return f"{value[:QUOTED]!r}… ({len(value):,} characters)"
    try:
        text = reprlib.repr(value) if isinstance(value, list | tuple | dict | set) else repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, lists in lists in lists
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}… ({type(value).__name__})"


def listed(names: Iterable[str], limit: int | None = 8) -> str:
    """Return quoted names in one line: 'a', 'b' and 'c'; beyond `limit`, how many more there are."""
    texts = [repr(shorten(name)) for name in names]
    more = 0 if limit is None else len(texts) - limit
    if more > 0:
        return f"{', '.join(texts[:limit])} and {more:,} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts) or "none"


def nearest(wanted: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names most like the wanted one, the most similar first."""
    import difflib  # only an error needs it

    names = {folded(name): name for name, _ in zip(known, range(_CANDIDATES), strict=False)}
    return [names[key] for key in difflib.get_close_matches(folded(wanted), names, n=most, cutoff=0.6)]


def did_you_mean(wanted: object, known: Iterable[str]) -> str:
    """Return a sentence that names the nearest known name, or an empty text."""
    names = nearest(wanted, known, 1) if isinstance(wanted, str) else []
    return f"Did you mean {shorten(names[0])!r}? " if names else ""


def folded(name: str) -> str:
    """Return a name as guesses compare it: its first characters, in lower case."""
    return name[:COMPARED].casefold()


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: 1 pass, 8 passes."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def in_digits(value: float, digits: int = 4) -> str:
    """Return a number with that many digits and no exponent: 0.1234, 1,040, 12,345."""
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def in_ms(seconds: float | None, digits: int = 4, *, signed: bool = False) -> str | None:
    """Return a duration as people read latencies: that many digits and no exponent."""
    if seconds is None:
        return None
    text = in_digits(seconds * 1e3, digits)
    return f"{'+' if signed and not text.startswith('-') else ''}{text} ms"


def in_time(seconds: float, digits: int = 3, *, signed: bool = False) -> str:
    """Return a duration in its own unit, as the views write it: 39.4 µs, 4 ms, 1.2 s."""
    size = abs(float(f"{seconds:.{digits}g}"))  # 999.9 µs are 1 ms
    unit, per_s = ("s", 1.0) if size >= 1 else ("ms", 1e3) if size >= 1e-3 else ("µs", 1e6)
    sign = "\N{MINUS SIGN}" if seconds < 0 else "+" if signed else ""
    return f"{sign}{in_digits(abs(seconds) * per_s, digits)} {unit}"


def rounded_time(seconds: float) -> str:
    """Return a time as people say it: 10 s, 2 min."""
    if seconds > _SAID_S[-1]:
        return f"{seconds / 60:.0f} min"
    return f"{next(time_s for time_s in _SAID_S if time_s >= seconds)} s"


def share_of(share: float, whole: str) -> str:
    """Return an error beside its whole: 5.21 % of the output, or 3,272 times the output.

    >>> share_of(3271.6, "the output")
    '3,272 times the output'
    """
    if share == math.inf:
        return f"more than any multiple of {whole}"
    return f"{share * 100:.3g} % of {whole}" if share < 9.99 else f"{share:,.0f} times {whole}"


def in_brackets(low: float | None, high: float | None, form: str) -> str:
    """Return an interval as it follows its value: " (1.2 to 1.4)"; empty if an end is unknown."""
    return "" if low is None or high is None else f" ({low:{form}} to {high:{form}})"


def bounded(low: float | None, high: float | None) -> str:
    """Return a ratio of which one end alone is known, such as "at least 2.7×"; empty for any other."""
    if high is None and low is not None:
        return f"at least {low:.1f}×"
    return f"at most {high:.2f}×" if low is None and high is not None else ""


def factor(ratio: float, low: float | None = None, high: float | None = None) -> str:
    """Return a ratio with the digits that its interval leaves: 1.83×, about 2×, at least 1.07×."""
    if low is not None and low > 1 and high is None:
        return f"at least {_decimals(low, _end_decimals(low))}×"
    if low is None or high is None or not 0 < low <= high < math.inf:
        return f"about {_decimals(ratio, 2 if 0.9 < ratio < 1.1 else 1 if ratio < 10 else 0)}×"
    if high / low > WIDE:
        ends = [_decimals(end, _end_decimals(end)) for end in (low, high)]
        if low <= 1 <= high:
            return f"up to {ends[1]}×"
        return f"at least {ends[0]}×" if low > 1 else f"at most {ends[1]}×"
    places = _places(low, high)
    text = _decimals(ratio, min(places, 3))
    if high / low <= NARROW:
        return f"{text}×"
    return f"about {text.removesuffix('.0')}×"


def factor_ends(low: float | None, high: float | None, what: str = "") -> str:
    """Return the interval of a ratio as it follows it: " (95 % CI 1.79 to 1.88)"; empty if not known."""
    if low is None or high is None:
        return ""
    places = 0 if not 0 < low <= high < math.inf else min(3, _places(low, high))
    first, last = (_decimals(end, max(places, _end_decimals(end))) for end in (low, high))
    return f" ({what}{first} to {last})"


def _places(low: float, high: float) -> int:
    """Return the decimals at whose last place the two differ; negative: tens, hundreds."""
    return 3 if high <= low else -math.floor(math.log10((high - low) / 2))


def _end_decimals(end: float) -> int:
    return 2 if end < 1.2 else 1 if end < 10 else 0


def _decimals(value: float, places: int) -> str:
    # 1.065 is 1.07, although its float is a little less
    return f"{round(value * (1 + 1e-9), places):,.{max(0, places)}f}"


def in_mib(size_bytes: int | None) -> str | None:
    """Return an amount of memory as people read it."""
    return None if size_bytes is None else f"{size_bytes / (1 << 20):,.1f} MiB"


def in_gib(size_bytes: int) -> str:
    """Return the memory of a machine, or of a file as large, as people read it."""
    return f"{size_bytes / (1 << 30):,.1f} GiB"


def bytes_text(count: int) -> str:
    """Return a file's size as people say it: 438 MB, not 437,951,488."""
    return _scaled(count, (" B", " kB", " MB", " GB", " TB"))


def count_text(count: int) -> str:
    """Return a number of parameters as people say it: 110 M."""
    return _scaled(count, ("", " k", " M", " G", " T"))


def aligned(rows: Iterable[tuple[str, str]], column: int) -> str:
    """Return names and values in two columns for a terminal; a long value continues below itself."""
    from textwrap import wrap

    lines = []
    for name, value in rows:
        indent = " " * (column + 2)
        wrapped = [
            wrap(part, TERMINAL - column - 2, break_long_words=False, break_on_hyphens=False)
            for part in value.split("\n")
        ]
        cell = [line for part in wrapped for line in part or [""]]
        lines.append(f"  {name:<{column}}" + f"\n{indent}".join(cell))
    return "\n".join(line.rstrip() for line in lines)


def _scaled(count: int, units: tuple[str, ...]) -> str:
    if count >= 10**15:  # only in a broken model, and then possibly beyond any float
        return f"over 1000{units[-1]}"
    size = float(count)
    for unit in units:
        if size < 999.5 or unit == units[-1]:
            break
        size /= 1000
    return f"{size:.3g}{unit}"
