"""What was fused into what, in the source and under each config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.drawing.chart import Chart
from workbench.drawing.exportable import Exportable
from workbench.features.explain.charts import fusions_chart
from workbench.features.explain.explanation import Explained
from workbench.features.explain.passes.fusion_table import FusionRow, fusion_rows


class Fusions(Exportable):
    """Counts of operators and of fusions, in the source and each run. Made by `result.fusions()`."""

    def __init__(self, explained: Mapping[str, Explained]) -> None:
        self.explained = dict(explained)  # by the label of the run

    def to_frame(self) -> DataFrame:
        """Return one row per pattern: source operators, what they became, passes, the count in each run."""
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for label, explained in self.explained.items():
            for fusion in explained.passes.statistics.fusions:
                key = (" + ".join(fusion.pattern), fusion.into)
                row = rows.setdefault(
                    key, {"pattern": key[0], "into": key[1], "passes": "", **dict.fromkeys(self.explained, 0)}
                )
                row[label] += fusion.count
                passes = dict.fromkeys([*filter(None, row["passes"].split(", ")), *fusion.passes])
                row["passes"] = ", ".join(passes)
        columns = ["pattern", "into", "passes", *self.explained]
        return data_frame(list(rows.values()), columns=columns)

    def ops_frame(self) -> DataFrame:
        """Return one row per operator: how many nodes the source and each run have."""
        rows: dict[str, dict[str, Any]] = {}
        for label, explained in self.explained.items():
            for op in explained.passes.statistics.ops:
                row = rows.setdefault(
                    op.op_type, {"op_type": op.op_type, "source": 0, **dict.fromkeys(self.explained, 0)}
                )
                row["source"] = max(row["source"], op.before)
                row[label] = op.after
        frame = data_frame(list(rows.values()), columns=["op_type", "source", *self.explained])
        return frame.sort_values("source", ascending=False, ignore_index=True, kind="stable")

    def rows(self) -> tuple[FusionRow, ...]:
        """Return a row per pattern: the places, those that were fused, and why not the others."""
        return fusion_rows(self.explained)

    def patterns_frame(self) -> DataFrame:
        """Return the same as a table: pattern, could, the count in each run, why_not, passes."""
        rows = [
            (row.pattern, row.could, *dict(row.fused).values(), why_not(row), ", ".join(row.passes))
            for row in self.rows()
        ]
        return data_frame(rows, columns=["pattern", "could", *self.explained, "why_not", "passes"])

    def missed_frame(self) -> DataFrame:
        """Return one row per expected fusion that did not happen, with the label of its run."""
        import pandas as pd

        frames = [
            explained.passes.missed_frame().assign(label=label) for label, explained in self.explained.items()
        ]
        return pd.concat(frames, ignore_index=True)

    def chart(self) -> Chart:
        """Return the operators of the source and of each run, the most frequent first."""
        statistics = {label: explained.passes.statistics for label, explained in self.explained.items()}
        return fusions_chart(statistics, str(self))

    @property
    def fused_words(self) -> str:
        """How many of the patterns that could be fused were: "6 of 6 patterns fused in A, 0 in B"."""
        rows = self.rows()
        could = sum(row.could for row in rows)
        if not could:
            return "no pattern that ORT could fuse"
        first, *others = [
            f"{sum(dict(row.fused)[label] for row in rows):,} in {label}" for label in self.explained
        ]
        return ", ".join([first.replace(" in ", f" of {could:,} patterns fused in ", 1), *others])

    @property
    def subject(self) -> str:
        """The name of its model."""
        return next(iter(self.explained.values())).model_name

    def _in_words(self) -> str:
        runs = "; ".join(_sentence(label, explained) for label, explained in self.explained.items())
        return runs if self.subject in self.explained else f"{self.subject}: {runs}"


def why_not(row: FusionRow) -> str:
    """Return each reason once, with its places in each run."""
    counts: dict[str, list[str]] = {}
    for group in row.not_fused:
        counts.setdefault(group.reason, []).append(f"{group.label} {group.count:,}×")
    return "; ".join(f"{' '.join(labels)} {reason}" for reason, labels in counts.items())


def _sentence(label: str, explained: Explained) -> str:
    numbers = explained.passes.statistics
    share = numbers.fused_share
    fused = "" if share is None else f", {numbers.fused_nodes} of them fused ({share * 100:.0f} %)"
    return f"{label}: {numbers.source_nodes} nodes became {numbers.optimized_nodes}{fused}"
