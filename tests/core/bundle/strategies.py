"""Records at random, made from nothing but type hints, so that a new field is drawn as well."""

from __future__ import annotations

import typing
from dataclasses import replace
from datetime import datetime
from typing import Any, get_type_hints

from hypothesis import strategies as st

from tests.factories.records import CONFIGS
from workbench.core.bundle.comparison import ComparisonRecord, Doubt, OutputAgreement, Verdict
from workbench.core.bundle.run import Run
from workbench.core.config import Config

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_times = st.datetimes(datetime(1970, 1, 1), datetime(9998, 12, 31))
_limit = (1 << 63) - 1


def anything(hint: Any, name: str = "") -> st.SearchStrategy[Any]:
    """Values of a field called `name` with the type `hint`, within the law of its unit."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if type(None) in arguments:
        return st.none() | anything(arguments[0], name)
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is ...:
        least = int(name == "samples_s")  # a block has a sample
        return st.lists(anything(arguments[0], name), min_size=least, max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(anything(argument) for argument in arguments))
    if hint is Config:
        return st.sampled_from(CONFIGS)
    if hint is str:
        return _times.map(datetime.isoformat) if name.endswith("_utc") else _texts
    if hint is bool:
        return st.booleans()
    if name == "feeds":
        return st.integers(1, _limit)  # a block runs at least one
    if hint is int:
        return st.integers(0 if name.endswith(("_bytes", "_count")) else -_limit, _limit)
    if name in ("ratio", "low", "high"):
        return st.floats(0, exclude_min=True, allow_infinity=False)
    if hint is float:
        return st.floats(0, 1e9, exclude_max=True) if name.endswith("_s") else st.floats(allow_nan=False)
    return st.builds(hint, **{field: anything(part, field) for field, part in get_type_hints(hint).items()})


_any_comparison = anything(ComparisonRecord)
_any_run, _any_verdict, _any_agreement, _any_doubt = map(anything, (Run, Verdict, OutputAgreement, Doubt))


@st.composite
def comparisons(draw: st.DrawFn) -> ComparisonRecord:
    """Any comparison that could be saved, not only likely ones."""
    labels = list("ABC"[: draw(st.integers(2, 3))])
    return replace(
        draw(_any_comparison),
        id=draw(st.text("0123456789abcdef-", min_size=1, max_size=64)),
        runs=tuple(replace(draw(_any_run), label=label) for label in labels),
        verdicts=tuple(replace(draw(_any_verdict), label=label) for label in labels[1:]),
        agreement=tuple(replace(draw(_any_agreement), label=label) for label in labels[1:]),
        doubts=(replace(draw(_any_doubt), label=draw(st.none() | st.sampled_from(labels))),),
    )
