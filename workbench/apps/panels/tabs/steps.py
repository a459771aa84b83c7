"""About how long a further result takes, from the load and the run of what was compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.apps.panels.state import BenchState
from workbench.features.base.registry import KINDS

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison

CHEAP_S = 10.0  # what takes no longer is made without being asked for
_ROUND_S = (1, 2, 5, 10, 15, 20, 30, 45, 60)  # as people say a time
_MINUTE_S = 60


def cost_s(state: BenchState, kind: str) -> float | None:
    """Return about how many seconds it takes to make a kind of result; None where nobody knows."""
    result, offer = state.result, next((offer for offer in KINDS.offers if offer.name == kind), None)
    if (took_s := state.took(offer.button if offer else kind)) is not None:
        return took_s
    if offer is None or offer.effort is None or result is None:
        return None
    load_s, run_s = slowest_s(result)
    if load_s is None or run_s is None:
        return None
    base_s, loads, runs = offer.effort
    return float(base_s + loads * load_s + runs * run_s)


def slowest_s(result: Comparison) -> tuple[float | None, float | None]:
    """Return the longest load and the longest median of a run; None where none was measured."""
    loads_s = [run.load_s for run in result.runs if run.load_s is not None]
    medians_s = [median_s for run in result.runs if (median_s := run.latency.median_s) is not None]
    return max(loads_s, default=None), max(medians_s, default=None)


def is_cheap(state: BenchState, kind: str) -> bool:
    """Return whether a kind of result about the answer on the screen is missing, and made in seconds."""
    free = state.job is None and state.run_error is None and not state.refused
    if not kind or not free or state.result is None or state.request().comparison is not state.result:
        return False
    cost = None if state.has_part(kind) else cost_s(state, kind)
    return cost is not None and cost <= CHEAP_S


def time_words(state: BenchState, kind: str) -> str:
    """Return about how long it takes to make a kind of result: ", about 10 s"; empty where nobody knows."""
    seconds = cost_s(state, kind)
    return "" if seconds is None else f", about {rounded(seconds)}"


def rounded(seconds: float) -> str:
    """Return a time as people say it: 10 s, 2 min."""
    if seconds > _ROUND_S[-1]:
        return f"{seconds / _MINUTE_S:.0f} min"
    return f"{next(step for step in _ROUND_S if step >= seconds)} s"
