"""Results of a history, to go on with: as a comparison, as a config, side by side in a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.entries import Entry, clock_text
from workbench.core.config import Config
from workbench.core.config.literals import text_literal
from workbench.core.errors import WorkbenchError
from workbench.features.base.folder import configs_of
from workbench.features.base.history import History
from workbench.features.compare.result import Comparison


def kept_comparison(history: History, identity: str) -> Comparison:
    """Return a comparison of a history, or that which another result was concluded from."""
    held = kept_result(history, identity)
    if not isinstance(held, Comparison):
        raise WorkbenchError(
            f"{identity} is no comparison: it is of the kind {held.feature.name}.",
            f"Open it, or show it in a cell: {opening_code(history, identity)}",
        )
    return held


def opening_code(history: History, identity: str) -> str:
    """Return the expression that opens a result."""
    return f"{history.source}.open({text_literal(identity)})"


def kept_result(history: History, identity: str) -> Any:
    """Return the comparison that a result of a history was concluded from, or else the result."""
    opened, source = history.open(identity), opening_code(history, identity)
    held = opened if isinstance(opened, Comparison) else getattr(opened, "comparison", None)
    if not isinstance(held, Comparison):
        return opened
    is_elsewhere = history.source != History.source
    if is_elsewhere or held is not opened:  # what is made of it from now on is not kept there
        held.source = source if held is opened else f"{source}.comparison"
        held.parts_of_source = frozenset(part.name for part in held.parts)
    return held


def kept_config(history: History, identity: str) -> Config:
    """Return the config of B in a result of a history, or its only one."""
    configs = configs_of(history.bundle(identity).record)
    if not configs:
        raise WorkbenchError(f"{identity} is of no config.", "Pick a comparison, or a run of one config.")
    return [*configs.values()][:2][-1]


def runs_frame(history: History, entries: Iterable[Entry]) -> DataFrame:
    """Return the runs of several comparisons of a history, with what they are of."""
    import pandas as pd

    frames = []
    for entry in entries:
        frames.append(kept_comparison(history, entry.id).to_frame())
        frames[-1].insert(0, "model", entry.model)
        frames[-1].insert(0, "when", clock_text(entry.created_utc))
    table: DataFrame = pd.concat(frames, ignore_index=True)
    return table
