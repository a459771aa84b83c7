"""ORT's five levels side by side: what each leaves of the graph, and how long it takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from workbench.analysis.observe import Observation
from workbench.config import Config
from workbench.config.plan import LEVELS
from workbench.records.comparison import ComparisonRecord
from workbench.text import in_ms

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = {name: number for number, name in enumerate(LEVELS)}  # ORT counts them like this in its log


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


@dataclass(frozen=True, slots=True)
class LevelsRecord:
    """The article's first table, on this machine."""

    model_name: str
    rows: tuple[LevelRow, ...]
    comparison: ComparisonRecord

    def to_frame(self) -> pd.DataFrame:
        """One row a level."""
        import pandas as pd

        columns = [
            "level", "nodes", "op_types", "providers", "load_s", "median_s", "speedup", "low", "high",
            "verdict", "outputs_agree",
        ]  # fmt: skip
        rows = [
            (
                one.level, one.nodes, len(one.ops), ", ".join(one.providers), one.load_s, one.median_s,
                one.speedup, one.low, one.high, one.verdict, one.outputs_agree,
            )
            for one in self.rows
        ]  # fmt: skip
        floats = dict.fromkeys(("load_s", "median_s", "speedup", "low", "high"), "float64")
        return pd.DataFrame(rows, columns=columns).astype({**floats, "nodes": "Int64"})

    def __str__(self) -> str:
        return "; ".join(
            f"{one.level}: {one.nodes:,} nodes, " + (in_ms(one.median_s) or "not measured")
            for one in self.rows
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def configs(config: Config) -> tuple[Config, ...]:
    """The config at each level, "disabled" first."""
    return tuple(config.replace(level=name) for name in LEVELS)


def levels(model_name: str, observation: Observation, record: ComparisonRecord) -> LevelsRecord:
    """`observation` is of the highest level: its snapshots hold the graph after each of the others."""
    verdicts = {verdict.label: verdict for verdict in record.verdicts}
    rows = []
    for (name, number), run in zip(NUMBERS.items(), record.runs, strict=True):
        shots = [shot for shot in observation.chain if shot.level <= number]
        verdict = verdicts.get(run.label)
        agree = [row.agrees for row in record.agreement if row.label == run.label]
        rows.append(
            LevelRow(
                level=name,
                nodes=len(shots[-1].graph.nodes) if shots else None,
                ops=tuple(Counter(node.kind for node in shots[-1].graph.nodes).most_common())
                if shots
                else (),
                providers=run.providers,
                load_s=run.load_s,
                median_s=run.latency.median_s,
                speedup=verdict.ratio if verdict else None,
                low=verdict.low if verdict else None,
                high=verdict.high if verdict else None,
                verdict=verdict.kind if verdict else None,
                outputs_agree=(all(agree) if None not in agree else None) if agree else None,
            )
        )
    return LevelsRecord(model_name, tuple(rows), record)
