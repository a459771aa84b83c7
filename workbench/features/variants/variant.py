"""A base and its variants, measured in one comparison: their rows, their table, and how fast each is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, Self

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, frame_of, typed
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.kinds import check_comparison
from workbench.core.bundle.run import Run
from workbench.core.measure.gates import OPEN, Gate, code_of
from workbench.core.text import factor_ends, in_ms
from workbench.drawing.chart import Axis, Chart, ChartRow, Look, ReferenceLine, Value, one_value, time_value


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant, by its name. None: not measured, or there is nothing to compare."""

    name: str
    load_s: float | None
    latency_s: float | None
    verdict: str | None  # None: this is the base
    ratio: Estimate  # the base's time over its own
    outputs_agree: bool | None  # with those of the base
    reason: str | None  # why this verdict, and why there is no interval
    failure: str | None

    @classmethod
    def of(cls, name: str, run: Run, record: ComparisonRecord, **facts: Any) -> Self:
        """Read one run of the comparison; `facts` are the fields that no comparison holds."""
        verdict = next((verdict for verdict in record.verdicts if verdict.label == run.label), None)
        agree = {row.agrees for row in record.agreement if row.label == run.label}
        return cls(
            name=name,
            load_s=run.load_s,
            latency_s=run.latency.median_s,
            verdict=None if verdict is None else verdict.kind,
            ratio=Estimate.of(verdict),
            outputs_agree=False if False in agree else True if agree == {True} else None,
            reason=None if verdict is None else verdict.reason,
            failure=None if run.failure is None else run.failure.problem,
            **facts,
        )

    def speed(self, look: Look) -> Value:
        """Return how many times as fast as the base it is, or why that is not said."""
        if self.verdict is None:
            return Value(None, "baseline", look)
        if self.verdict == "outputs differ" or not self.ratio.is_closed:
            known = self.ratio.factor if self.ratio.value is None else ""
            text = self.verdict if self.verdict == "outputs differ" else known or "not settled"
            return Value(None, text, look, detail=self.reason or "")
        value, low, high = self.ratio.ends
        return Value(value, self.ratio.factor + factor_ends(low, high), look, low, high)


@dataclass(frozen=True, slots=True)
class VariantsRecord:
    """A model and its variants. `columns` are those of the table: "name" or "name=attribute" of a row."""

    columns: ClassVar[str]

    model_name: str
    rows: tuple[Variant, ...]

    def to_frame(self) -> DataFrame:
        """Return one row per variant."""
        columns = (text.partition("=") for text in self.columns.split())
        names = {path or name: name for name, _, path in columns}
        return typed(frame_of(self.rows, names, names=names))

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


@dataclass(frozen=True, slots=True)
class ComparedRecord(VariantsRecord):
    """Variants with the comparison that they are read from."""

    comparison: ComparisonRecord

    @property
    def asked_s(self) -> float:
        """The seconds of measuring that were asked for."""
        return self.comparison.asked_s


def check_compared(record: ComparedRecord, fix: str) -> None:
    """Check the comparison that a stranger's record is read from."""
    check_comparison(record.comparison, fix)


def gates_of_variants(record: VariantsRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each variant; one that was not measured is open."""
    for row in record.rows:
        if row.latency_s is None:
            yield Gate(row.name, OPEN, f"not measured: {row.failure or row.reason or 'no samples'}")
        else:
            known = row.ratio.factor if row.ratio.value is None else ""  # of a large effect
            text = "; ".join(filter(None, (in_ms(row.latency_s), row.verdict, known, row.reason)))
            yield Gate(row.name, code_of(row.verdict, fail_if), text)


def side_by_side(
    title: str, base: str, rows: Iterable[tuple[str, Variant, int | None, Look]], note: str = ""
) -> Chart:
    """Return a row for each variant: nodes left, load time, latency, and the speed-up against the base."""
    drawn: list[ChartRow] = []
    for label, row, nodes, look in rows:
        count = Value(nodes, "not known" if nodes is None else f"{nodes:,}", look)
        times = (time_value(seconds, look) for seconds in (row.load_s, row.latency_s))
        drawn.append(one_value(label, count, *times, row.speed(look)))
    names = ("nodes", "load time (ms)", "median latency (ms)")
    speed = Axis(f"times as fast as {base}", "dot", (ReferenceLine(1.0),))
    return Chart((title,), (*map(Axis, names), speed), tuple(drawn), note, columns=2)
