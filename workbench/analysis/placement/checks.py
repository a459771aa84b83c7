"""Predictions against what really ran: those recorded with this package, and those that a user makes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class RecordedCheck:
    """The prediction for one model against the placement in a real session of that provider."""

    provider: str
    version: str  # of the package with the provider
    model: str
    nodes: int  # compared: nodes of the graph that ORT divided
    right: int
    predicted_partitions: int
    partitions: int


@cache
def recorded_checks() -> tuple[RecordedCheck, ...]:
    """Read the checks that ship with this package, made by `python -m benchmarks.predictions`."""
    file = files("workbench.analysis").joinpath("data", "prediction-checks.json")
    return tuple(RecordedCheck(**row) for row in json.loads(file.read_text(encoding="utf-8")))


def share_right(provider: str) -> float | None:
    """Return the share of nodes that the checks of a provider found predicted right; None: never checked."""
    checks = [check for check in recorded_checks() if check.provider == provider]
    return sum(check.right for check in checks) / sum(check.nodes for check in checks) if checks else None


def reliability(provider: str) -> str:
    """Return a sentence on how often predictions for a provider were right."""
    checks = [check for check in recorded_checks() if check.provider == provider]
    if not checks:
        return "Never checked against a real run."
    right, nodes = sum(check.right for check in checks), sum(check.nodes for check in checks)
    whole = sum(check.predicted_partitions == check.partitions for check in checks)
    return (
        f"Checked on {len(checks)} models: {right:,} of {nodes:,} nodes right, "
        f"the number of partitions in {whole}."
    )
