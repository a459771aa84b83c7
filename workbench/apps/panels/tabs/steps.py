"""About how long a further result takes, from the load and the run of what was compared."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.apps.panels.state import BenchState
from workbench.features.base.registry import KINDS

_COSTS: Mapping[str, tuple[float, int, int]] = {  # kind: seconds, loads and runs that it takes
    "explanation": (2.0, 12, 2),
    "profile": (1.0, 4, 60),
    "why slower": (2.0, 8, 60),
    "accuracy": (2.0, 4, 400),
    "first difference": (2.0, 6, 4),
    "layer errors": (2.0, 6, 8),
    "sensitivity": (20.0, 60, 400),
    "measurement": (8.0, 6, 400),
    "levels": (15.0, 20, 400),
    "ablation": (25.0, 40, 800),
    "memory": (2.0, 4, 4),
    "cold start": (3.0, 10, 20),
    "memory settings": (20.0, 24, 600),
    "roofline": (6.0, 4, 60),
    "findings": (3.0, 14, 60),
    "thread scaling": (20.0, 24, 600),
}
CHEAP_S = 10.0  # what takes no longer is made without being asked for
_ROUND_S = (1, 2, 5, 10, 15, 20, 30, 45, 60)  # as people say a time
_MINUTE_S = 60


def cost_s(state: BenchState, kind: str) -> float | None:
    """Return about how many seconds it takes to make a kind of result; None where nobody knows."""
    result, cost = state.result, _COSTS.get(kind)
    button = next((offer.button for offer in KINDS.offers if offer.name == kind), kind)
    if (took_s := state.took(button)) is not None:
        return took_s
    if cost is None or result is None:
        return None
    loads_s = [run.load_s for run in result.runs if run.load_s is not None]
    runs_s = [run.latency.median_s for run in result.runs if run.latency.median_s is not None]
    if not loads_s or not runs_s:
        return None
    base_s, loads, runs = cost
    return float(base_s + loads * max(loads_s) + runs * max(runs_s))


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
