"""The reason for a verdict: explaining both configs, where that takes a moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.core.config.fields import BY_FIELD
from workbench.core.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison

MOMENT_S = 1.0  # of loading; explaining a run loads it again and again
LOADS_TO_EXPLAIN = 6
_OF_GRAPH = ("graph", "precision", "providers")  # groups of knobs that change what runs


def why_is_cheap(comparison: Comparison) -> bool:
    """Return whether the graphs of A and B may differ, and explaining both takes a moment."""
    runs = comparison.runs
    if comparison.why or any(run.failure is not None for run in runs):
        return False
    if any(run.config.engine is not None or run.config.runtime is not None for run in runs):
        return False  # what ran is no graph of this ONNX Runtime
    changed = {change.field for change in runs[0].config.diff(runs[1].config).changes}
    loads_s = [run.load_s for run in runs]
    if None in loads_s or not any(BY_FIELD[field].group in _OF_GRAPH for field in changed):
        return False
    return len(runs) * LOADS_TO_EXPLAIN * max(filter(None, loads_s), default=0.0) <= MOMENT_S


def explain_why(comparison: Comparison, cancel: threading.Event, on_step: Callable[[str], None]) -> None:
    """Explain the runs, so that the answer has its reason; without one it stands, too."""
    try:
        comparison.examine("explanation", cancel=cancel, on_step=on_step)
    except WorkbenchError:  # stopped, or this model cannot be explained, which the view says when asked
        return


def what_differs(comparison: Comparison) -> str:
    """Return the settings in which A and B differ; empty where a run failed, which is then the answer."""
    before, after = comparison.runs[:2]
    if before.failure is not None or after.failure is not None:
        return ""
    changes = before.config.diff(after.config).changes
    return ", ".join(map(str, changes)) or "nothing, both configs are the same"
