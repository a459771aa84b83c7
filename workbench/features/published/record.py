"""The published files of a model side by side: which load, what they return, and which one to take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.estimate import Estimate
from workbench.core.text import bytes_text, counted, in_ms, one_line, share_of, shorten
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Look,
    ReferenceLine,
    Value,
    one_value,
    percent,
    run_look,
    time_value,
)
from workbench.features.compare.side_by_side import standings
from workbench.features.variants.variant import ComparedRecord, Variant

_NOISE = 0.5**0.5  # of an output, as a root: half of the energy is error
_RETURNS_NOISE, _HAS_OTHER_OUTPUTS = "returns noise", "has other outputs"
_LONGEST = 160  # characters of a reason
_LABEL = 40  # characters of a file in the figure


@dataclass(frozen=True, slots=True)
class PublishedRow(Variant):
    """One file, by its name in the folder. None: not known, or nothing was measured."""

    label: str  # of its run
    file_bytes: int | None  # with its weights
    peak_rss_bytes: int | None
    error: float | None  # of the worst output, over the root mean square of the float32 file's
    loads: bool

    @property
    def is_noise(self) -> bool:
        """Return whether its worst output has little in common with the float32 file's."""
        return self.outputs_agree is False and self.error is not None and self.error > _NOISE

    @property
    def is_sound(self) -> bool:
        """Return whether it runs, and its outputs are those of the float32 file as far as was asked."""
        return self.latency_s is not None and self.failure is None and self.verdict != "outputs differ"

    @property
    def times(self) -> Estimate:
        """Return how many times as fast as the float32 file it is."""
        return Estimate(1.0, 1.0, 1.0) if self.verdict is None else self.ratio

    def is_faster_than(self, other: PublishedRow) -> bool:
        """Return whether it is faster for sure: the intervals of both speeds do not meet."""
        low, high = self.times.low, other.times.high
        return low is not None and high is not None and low > high

    @property
    def fault(self) -> str:
        """What is wrong with its outputs, in words; empty where nothing is."""
        if self.is_noise:
            return _RETURNS_NOISE
        return _HAS_OTHER_OUTPUTS if self.verdict == "outputs differ" else ""

    @property
    def trouble(self) -> str:
        """What it fails at, in words; empty where it runs."""
        return "" if self.failure is None else "does not run" if self.loads else "does not load"

    def __str__(self) -> str:
        name = f"{self.label} {shorten(self.name)}"
        if self.failure is not None:
            return f"{name} {self.trouble}: {one_line(self.failure, _LONGEST)}"
        facts = [_size(self.file_bytes), f"{_size(self.peak_rss_bytes) or 'not known'} at the peak"]
        facts.append(in_ms(self.latency_s) or "not measured")
        if self.error is not None:
            facts.append(f"error {share_of(self.error, 'the output')}")
        return f"{name} {self.fault}".rstrip() + f": {', '.join(filter(None, facts))}"


@dataclass(frozen=True, slots=True)
class PublishedRecord(ComparedRecord):
    """Every published file of a model, measured in one comparison, the float32 one first."""

    columns = (
        "file=name label loads file_bytes peak_rss_bytes load_s latency_s outputs_agree error is_noise"
        " verdict ratio=ratio.value low=ratio.low high=ratio.high reason failure"
    )

    rows: tuple[PublishedRow, ...]

    def to_take(self, size: Callable[[PublishedRow], int | None]) -> tuple[tuple[int, PublishedRow], ...]:
        """Return the file to take from each limit of a size on, the least first.

        A larger file is taken only where it is faster for sure. Files with other outputs are never taken.
        """
        sizes = [(known, row) for row in self.rows if row.is_sound and (known := size(row)) is not None]
        taken: list[tuple[int, PublishedRow]] = []
        for known, row in sorted(sizes, key=lambda pair: (pair[0], -(pair[1].times.known or 0.0))):
            if not taken or row.is_faster_than(taken[-1][1]):
                taken.append((known, row))
        return tuple(taken)

    @property
    def advice(self) -> tuple[str, ...]:
        """Which file to take under a limit of its size, and of memory, in words."""
        sizes = {
            "the file": self.to_take(lambda row: row.file_bytes),
            "memory": self.to_take(lambda row: row.peak_rss_bytes),
        }
        return tuple(
            f"within a limit of {what}, take "
            + ", ".join(f"{shorten(row.name)} from {_size(size)} on" for size, row in taken)
            for what, taken in sizes.items()
            if taken
        )

    @property
    def headline(self) -> str:
        """What is wrong with files, in words."""
        parts = [f"{self.model_name}: {counted(len(self.rows), 'published file')}"]
        for words in (_RETURNS_NOISE, _HAS_OTHER_OUTPUTS, "does not load", "does not run"):
            names = [shorten(row.name) for row in self.rows if words in (row.trouble, row.fault)]
            parts += [f"{words}: {', '.join(names)}"] if names else []
        return "; ".join(parts)

    def __str__(self) -> str:
        return "\n".join([self.headline, *map(str, self.rows), *self.advice])


def _size(size: int | None) -> str:
    """Return a size in words; files of published models have from kilobytes to gigabytes."""
    return "" if size is None else bytes_text(size)


def _size_value(size: int | None, absent: str, look: Look) -> Value:
    """Return a size in megabytes; `absent` says why there is none."""
    return Value(None if size is None else size / 1e6, _size(size) or absent, look)


def files_seen(names: list[str], record: ComparisonRecord) -> PublishedRecord:
    """Read the comparison of files that have these names, in the order of its runs."""
    rows = []
    for name, run, standing in zip(names, record.runs, standings(record, None), strict=True):
        facts = {part: getattr(standing, part) for part in ("file_bytes", "peak_rss_bytes", "error")}
        loads = run.failure is None or run.failure.stage not in ("prepare", "start", "load")
        rows.append(PublishedRow.of(name, run, record, label=run.label, loads=loads, **facts))
    return PublishedRecord(record.model.name, tuple(rows), record)


def published_chart(record: PublishedRecord) -> Chart:
    """Return a row for each file: size, memory, latency, error of its outputs, and how much faster it is."""
    error = Axis("error of the worst output (%)")
    speed = Axis("times as fast as the float32 file", "dot", (ReferenceLine(1.0),))
    axes = (Axis("file (MB)"), Axis("peak memory (MB)"), Axis("median latency (ms)"), error, speed)
    rows = tuple(_chart_row(index, row) for index, row in enumerate(record.rows))
    return Chart(("; ".join([record.headline, *record.advice]),), axes, rows, columns=2)


def _chart_row(index: int, row: PublishedRow) -> ChartRow:
    """Return the row of a file; one that does not run says why."""
    look = run_look(index)
    absent, problem = row.trouble or "not measured", one_line(row.failure or "", _LONGEST)
    words = "the float32 file" if row.verdict is None else absent
    if row.error is not None:
        words = row.fault or share_of(row.error, "the output")
    return one_value(
        one_line(f"{row.label}: {row.name}", _LABEL),
        _size_value(row.file_bytes, "not known", look),
        _size_value(row.peak_rss_bytes, absent, look),
        time_value(row.latency_s, look, absent, detail=problem),
        Value(percent(row.error), words, look, detail=row.reason or ""),
        Value(None, row.trouble, look) if row.trouble else row.speed(look),
    )
