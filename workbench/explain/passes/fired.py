"""The passes that changed this model, in order, with exactly what each changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.explain.observe import REQUIRED, TOGETHER, Observation
from workbench.explain.passes.missed import Missed, missed
from workbench.explain.passes.statistics import Statistics, statistics
from workbench.explain.provenance import Account, Change

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class FiredPass:
    """One pass that changed the graph. `can_be_disabled`: False for what ORT does at every level."""

    name: str
    level: int
    change: Change
    said: tuple[str, ...]  # ORT's own words while it ran

    @property
    def can_be_disabled(self) -> bool:
        return self.name not in (REQUIRED, TOGETHER)


@dataclass(frozen=True, slots=True)
class Passes:
    """All of them; `exact` says whether they end in exactly ORT's own final graph."""

    fired: tuple[FiredPass, ...]
    tried: tuple[tuple[str, int], ...]  # (transformer, level): every one that this ORT registered
    exact: bool
    problem: str | None
    statistics: Statistics
    missed: tuple[Missed, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What an ablation can switch off, each once, in order."""
        return tuple(dict.fromkeys(one.name for one in self.fired if one.can_be_disabled))

    def to_frame(self) -> pd.DataFrame:
        """One row a pass that fired: order, name, level, removed, added, rewired, nodes_after, what."""
        import pandas as pd

        rows = [
            (
                order, one.name, one.level, len(one.change.removed), len(one.change.added),
                len(one.change.rewired), one.change.nodes_after, in_words(one.change),
            )
            for order, one in enumerate(self.fired, start=1)
        ]  # fmt: skip
        columns = ["order", "pass", "level", "removed", "added", "rewired", "nodes_after", "what"]
        return pd.DataFrame(rows, columns=columns)

    def missed_frame(self) -> pd.DataFrame:
        """One row an expected fusion that did not happen."""
        import pandas as pd

        columns = list(Missed.__dataclass_fields__)
        rows = [
            [
                "; ".join(value) if isinstance(value := getattr(one, name), tuple) else value
                for name in columns
            ]
            for one in self.missed
        ]
        return pd.DataFrame(rows, columns=columns)


def in_words(change: Change) -> str:
    """As in `12 Add + 12 Gelu → 12 BiasGelu`."""
    return f"{_ops(change.ops_removed)} → {_ops(change.ops_added)}"


def _ops(counts: tuple[tuple[str, int], ...]) -> str:
    return " + ".join(f"{count} {op}" for op, count in counts) or "nothing"


def passes_of(observation: Observation, account: Account) -> Passes:
    """From the log and the snapshots."""
    said: dict[tuple[str, int], list[str]] = {}
    for one in observation.applied:
        said.setdefault((one.name, one.level), []).extend(one.said)
    return Passes(
        fired=tuple(
            FiredPass(
                change.name, change.level, change,
                tuple(dict.fromkeys(said.get((change.name, change.level), ()))),
            )
            for change in account.changes
        ),
        tried=tuple(dict.fromkeys((one.name, one.level) for one in observation.applied)),
        exact=observation.exact,
        problem=observation.problem,
        statistics=statistics(observation, account),
        missed=missed(observation, account),
    )  # fmt: skip
