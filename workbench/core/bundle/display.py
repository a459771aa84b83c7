"""Tables of records: data frames, and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

    from workbench.core.config import Config

    DataFrame: TypeAlias = pd.DataFrame
else:
    DataFrame = Any  # pandas is imported when there is a table to make

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet computes: OWASP, "CSV Injection"
_FLOATS = frozenset(("ratio", "low", "high", "speedup", "worth", "relative_error"))  # columns of numbers
_OWN_NAMES = "own_names"  # of a frame: columns that a model named
FILE = "prepared file"  # says itself what it is: not "precision prepared file"


def data_frame(rows: Any, columns: list[str] | tuple[str, ...] | None = None) -> pd.DataFrame:
    """Return a data frame; pandas is imported here, when there is a table to make."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def with_own_names(frame: DataFrame, names: Iterable[str]) -> DataFrame:
    """Return the frame with a note that a model gave these columns their names."""
    frame.attrs[_OWN_NAMES] = tuple(names)
    return frame


def own_names(frame: DataFrame) -> tuple[str, ...]:
    """Return the columns that a model named: the glossary explains none, and their ends are no units."""
    names: tuple[str, ...] = frame.attrs.get(_OWN_NAMES, ())
    return names


def frame_of(
    rows: Iterable[object],
    attributes: Iterable[str],
    floats: Iterable[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return a data frame with one row per object and one column per attribute, such as "gain.saved".

    A column is called like the last part of its attribute, unless `names` says otherwise. Tuples of texts are
    joined; the columns in `floats` hold numbers even if every value is absent.
    """
    import pandas as pd

    paths = tuple(attributes)
    columns = [names.get(path, path.rpartition(".")[2]) for path in paths]
    cells = [[_joined(attrgetter(path)(row)) for path in paths] for row in rows]
    return pd.DataFrame(cells, columns=columns).astype(dict.fromkeys(floats, "float64"))


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Give each column the type that its name stands for, even if every value is absent."""
    names = [str(name) for name in frame]
    floats = [name for name in names if name in _FLOATS or name.endswith(("_ms", "_s", "_low", "_high"))]
    wholes = [name for name in names if name == "nodes" or name.endswith("_bytes")]
    return frame.astype({**dict.fromkeys(floats, "float64"), **dict.fromkeys(wholes, "Int64")})


def values_of(record: object, *names: str) -> dict[str, Any]:
    """Return these attributes of a record for a row of a data frame; None for those of an absent record."""
    return {name: getattr(record, name, None) for name in names}


def csv_of(frame: pd.DataFrame) -> str:
    """Return the table as CSV; an apostrophe stands before a text that would be computed."""
    safe = frame.apply(_column_as_text).rename(columns=as_text)
    return str(safe.to_csv(index=False, lineterminator="\r\n"))  # RFC 4180; then a lone CR is quoted


def _column_as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Leave numbers to pandas: before 3, `map` makes floats of integers that may be absent."""
    from pandas.api.types import is_numeric_dtype

    return column if is_numeric_dtype(column.dtype) else column.map(as_text)


def as_text(value: Any) -> Any:
    """Return numbers as they are: only a text can be mistaken for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


@lru_cache(maxsize=4096)  # a search asks for the same configs again and again
def config_in_words(config: Config) -> str:
    """Return the settings of a config as a short text."""
    changes = type(config)().diff(config).changes
    texts = ((change.what, str(change.after)) for change in changes)
    words = (after if after.startswith((what, FILE)) else f"{what} {after}" for what, after in texts)
    return ", ".join(words) or "ORT defaults"


def _joined(value: object) -> object:
    return "; ".join(value) if isinstance(value, tuple) else value
