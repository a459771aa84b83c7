"""One config among those measured together: its run, its verdict, and what a table shows of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.comparison import ComparisonRecord, Verdict, verdict_cells
from workbench.core.bundle.run import Run
from workbench.core.measure.percentiles import Estimate, percentiles, throughput

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class MeasuredConfig:
    """One config. `run` is None if it was not measured, for the reason in `problem`."""

    label: str
    run: Run | None
    verdict: Verdict | None  # None: the first config, the only one, or nothing was measured
    problem: str | None

    def latency(self, percent: float = 50.0) -> Estimate:
        """Return a percentile of the latency, by default the median."""
        if self.run is None:
            return Estimate(f"p{percent:g}", note=self.problem or "")
        (estimate,) = percentiles(self.run, (percent,))
        return estimate

    def rate(self) -> Estimate:
        """Return the throughput of consecutive runs."""
        return Estimate("throughput", note=self.problem or "") if self.run is None else throughput(self.run)

    def latency_cells(self) -> dict[str, float | None]:
        """Return the cells of the median and of the 99th percentile in milliseconds."""
        p99 = self.latency(99.0).times(1e3)
        return {**self.latency().times(1e3).cells("median", "_ms"), "p99_ms": p99.value}

    def verdict_cells(self) -> dict[str, object]:
        """Return the cells of the verdict; wrong outputs have no speed-up."""
        wrong = self.verdict is not None and self.verdict.kind == "outputs differ"
        return {**verdict_cells(self.verdict), **dict.fromkeys(("ratio", "low", "high") if wrong else ())}


def measured_frame(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Return the table of these rows, with the types that the names of its columns stand for."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    floats = [name for name in map(str, frame) if name.endswith(("_ms", "_s", "_low", "_high"))]
    types = dict.fromkeys((*floats, "ratio", "low", "high"), "float64")
    return frame.astype({**types, "peak_rss_bytes": "Int64"})


def configs_of(
    measured: ComparisonRecord | None, labels: Sequence[str], problem: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the fields of each config; `problem` is why nothing was measured."""
    runs = {} if measured is None else {run.label: run for run in measured.runs}
    verdicts = {} if measured is None else {verdict.label: verdict for verdict in measured.verdicts}
    for label in labels:
        run = runs.get(label)
        failure = None if run is None else run.failure
        yield {
            "label": label,
            "run": run if run is not None and run.processes else None,
            "verdict": verdicts.get(label),
            "problem": problem if failure is None else f"{failure.stage}: {failure.problem}",
        }
