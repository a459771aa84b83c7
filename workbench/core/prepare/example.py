"""Checks of one example, with its place in an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from workbench.core.errors import InputError, WorkbenchError
from workbench.core.models.checking import check_feed
from workbench.core.models.model import Model
from workbench.core.text import shorten


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Name the place in an error about inputs."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error.problem}", error.fix) from error


def checked(feed: Any, model: Model, where: str) -> dict[str, Any]:
    """Return the feed in ORT's types; refuse values that are not finite, which leave no scale."""
    with placed(where):
        values = check_feed(feed, model.structure, [])
    for name, value in values.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            _check_finite(name, value, where)
    return values


def with_places(feeds: Iterable[Any], where: str) -> Iterator[tuple[str, Any]]:
    """Yield every feed after its place; name it in what the user's iterable raises, too."""
    left = iter(feeds)
    for at in count():
        place = f"{where}, example {at}"
        try:
            feed = next(left)
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


def _check_finite(name: str, value: np.ndarray[Any, Any], where: str) -> None:
    wrong = value.size - int(np.isfinite(value).sum())
    if wrong:
        kinds = [word for word, is_kind in (("NaN", np.isnan), ("Inf", np.isinf)) if is_kind(value).any()]
        raise InputError(
            f"{where}: the input {shorten(name)!r} holds {wrong:,} values that are {' or '.join(kinds)}, and "
            "no range can be measured on them",
            "leave this example out, or give finite values (-1e4 in a mask instead of -Inf)",
        )
