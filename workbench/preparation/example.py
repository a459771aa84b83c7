"""One calibration example: what it must be, and where it stood when it is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.errors import InputError, WorkbenchError
from workbench.models.checking import check_feed
from workbench.models.model import Model
from workbench.text import shorten


def checked(feed: Any, model: Model, where: str) -> dict[str, Any]:
    """The feed as ORT takes it; its values are finite, since a range with no end leaves no scale."""
    try:
        found = check_feed(feed, model.structure, [])
    except InputError as error:
        raise InputError(f"{where}: {error.problem}", error.fix) from error
    for name, value in found.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            _check_finite(name, value, where)
    return found


def each(feeds: Iterator[Mapping[str, Any]], where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every feed with its place; what the user's own iterable raises says that it was the user's."""
    at = 0
    while True:
        place = f"{where}, example {at}"
        try:
            feed = next(feeds)
        except StopIteration:
            return
        except WorkbenchError:
            raise
        except Exception as error:
            raise InputError(
                f"{place} could not be read: {type(error).__name__}: {shorten(str(error), 200)}",
                "mend what makes the examples: this is what it raised",
            ) from error
        yield place, feed
        at += 1


def _check_finite(name: str, value: np.ndarray[Any, Any], where: str) -> None:
    wrong = value.size - int(np.isfinite(value).sum())
    if wrong:
        kinds = [word for word, is_one in (("NaN", np.isnan), ("Inf", np.isinf)) if is_one(value).any()]
        raise InputError(
            f"{where}: the input {shorten(name)!r} holds {wrong:,} values that are {' or '.join(kinds)}, and "
            "no range can be measured on them",
            "leave this example out, or give finite values (-1e4 in a mask instead of -Inf)",
        )
