"""ORT's five graph optimization levels side by side: nodes left, and latency."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import ComparisonRecord, verdict_cells
from workbench.core.bundle.display import values_of
from workbench.core.config import Config
from workbench.core.config.plan import LEVELS
from workbench.core.text import in_ms
from workbench.features.explain.observe import Observation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One level. `speedup` is against the level "disabled", with its interval."""

    level: str
    nodes: int | None
    ops: tuple[tuple[str, int], ...]
    providers: tuple[str, ...]
    load_s: float | None
    median_s: float | None
    speedup: float | None
    low: float | None
    high: float | None
    verdict: str | None  # None: this is the baseline
    outputs_agree: bool | None  # with those of the level "disabled"
    reason: str | None  # why this verdict, and why there is no interval


@dataclass(frozen=True, slots=True)
class LevelsRecord:
    """All levels of one model on this machine, measured in one comparison."""

    model_name: str
    rows: tuple[LevelRow, ...]
    comparison: ComparisonRecord

    def to_frame(self) -> pd.DataFrame:
        """One row per level."""
        import pandas as pd

        names = LevelRow.__dataclass_fields__
        rows = [
            {**values_of(row, *names), "ops": len(row.ops), "providers": ", ".join(row.providers)}
            for row in self.rows
        ]
        floats = dict.fromkeys(("load_s", "median_s", "speedup", "low", "high"), "float64")
        frame = pd.DataFrame(rows, columns=list(names)).rename(columns={"ops": "op_types"})
        return frame.astype({**floats, "nodes": "Int64"})

    def __str__(self) -> str:
        return "; ".join(
            f"{row.level}: {'? ' if row.nodes is None else f'{row.nodes:,} '}nodes, "
            + (in_ms(row.median_s) or "not measured")
            for row in self.rows
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def configs(config: Config) -> tuple[Config, ...]:
    """Return the config at each level, "disabled" first."""
    return tuple(config.replace(level=name) for name in LEVELS)


def levels(model_name: str, observation: Observation, record: ComparisonRecord) -> LevelsRecord:
    """Read the comparison of `configs`; the observation of the highest level has the graph of each."""
    verdicts = {verdict.label: verdict for verdict in record.verdicts}
    rows = []
    for number, (name, run) in enumerate(zip(LEVELS, record.runs, strict=True)):  # ORT counts levels so
        graphs = [shot.graph for shot in observation.chain if shot.level <= number]
        cells = verdict_cells(verdicts.get(run.label))
        agree = [row.agrees for row in record.agreement if row.label == run.label]
        rows.append(
            LevelRow(
                level=name,
                nodes=len(graphs[-1].nodes) if graphs else None,
                ops=tuple(Counter(node.kind for graph in graphs[-1:] for node in graph.nodes).most_common()),
                providers=run.providers,
                load_s=run.load_s,
                median_s=run.latency.median_s,
                speedup=cells.pop("ratio"),
                **cells,
                outputs_agree=(all(agree) if None not in agree else None) if agree else None,
                reason=getattr(verdicts.get(run.label), "reason", None),
            )
        )
    return LevelsRecord(model_name, tuple(rows), record)
