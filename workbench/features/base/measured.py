"""Results that a person may stop, most of them on a comparison of their own: levels, versions, a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.kinds import Part
from workbench.core.bundle.origin import Origin
from workbench.core.errors import WorkbenchError
from workbench.core.measure.wording import headline
from workbench.drawing.chart import Chart
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import figured, paragraph, table
from workbench.features.base.result import Result


class Stoppable(Result):
    """A result that says what is kept where a person stopped it."""

    @property
    def stopped(self) -> str:
        """That a person stopped it and what is kept, in words; empty: it ran to its end."""
        stopped: str = self.record.stopped
        return stopped

    def chart(self) -> Chart:
        """Return its chart; the note begins with what a person stopped."""
        chart, stopped = super().chart(), self.stopped
        return replace(chart, note="; ".join(filter(None, (stopped, chart.note)))) if stopped else chart

    def _in_words(self) -> str:
        words, stopped = super()._in_words(), self.stopped
        return f"{words}\n{stopped[0].upper()}{stopped[1:]}." if stopped else words


class Measured(Stoppable):
    """A result whose record holds the comparison that it was concluded from."""

    title: ClassVar[str]

    @property
    def measured(self) -> ComparisonRecord:
        """Everything that was measured."""
        measured: ComparisonRecord = self.record.comparison
        return measured

    @property
    def stopped(self) -> str:
        """What its comparison says of that."""
        return self.measured.stopped

    def section(self, label: str) -> str:
        """Return its part of a comparison's page, with the runs it is concluded from."""
        return super().section(label) + table(self.measured.to_frame(), "Runs in numbers")

    def document(self) -> Document:
        """Return its page, with everything that was measured for it."""
        from workbench.features.base.page import add_measured, add_protocol

        page = Document(f"{self.measured.model.name}: {self.title}", paragraph(str(self)))
        page.add("result", "Result", figured(self))
        add_measured(page, self.measured)
        add_protocol(page, self.measured)
        return page


class Judged(Measured):
    """A measured result that ends with each verdict in words."""

    def _in_words(self) -> str:
        return "\n".join([super()._in_words(), *map(headline, self.measured.verdicts)])


_FIRST = "A"  # the label of a main record that holds none


class PerRun(Result):
    """One record per run: the first is the main one of its bundle, the others are parts named by label."""

    kind: ClassVar[str]

    @property
    def by_label(self) -> dict[str, Any]:
        """The record of each run."""
        return dict(self._labelled())

    def _labelled(self) -> Iterator[tuple[str, Any]]:
        own = [part for part in self.parts if part.kind == self.kind]
        if all(part.label for part in own):
            yield str(getattr(self.record, "label", "") or _FIRST), self.record
        for part in own:
            if part.label:
                yield part.label, part.record

    @classmethod
    def of(cls, records: dict[str, Any], about: Origin | None = None) -> Self:
        """Make one result of records by label."""
        if not records:
            raise WorkbenchError(f"There is no {cls.kind} to show.", "Give at least one run.")
        first, *others = records
        main, names = records[first], [f"{cls.kind}/{label}" for label in others]
        if first != _FIRST:  # the baseline failed: a part without a label says that all labels stand beside
            names = [cls.kind, *(f"{cls.kind}/{label}" for label in records)]
        parts = tuple(Part(name, records.get(name.partition("/")[2], main), None) for name in names)
        return cls(main, about, parts=parts)

    @classmethod
    def of_part(cls, part: Part) -> Self:
        """Make a result of a part of a comparison."""
        return cls.of({part.label or _FIRST: part.record}, part.about)

    def as_parts(self, label: str) -> tuple[Part, ...]:
        """Return one part per run; a single run is called `label`."""
        records = self.by_label if len(self.by_label) > 1 else {label: self.record}
        return tuple(
            Part(
                f"{self.kind}/{run}",
                replace(record, label=run) if hasattr(record, "label") else record,
                self.about,
            )
            for run, record in records.items()
        )

    @property
    def _drawn(self) -> dict[str, Any]:
        return self.by_label

    def to_frame(self) -> DataFrame:
        """Return the tables of all runs as one, with a column `label`."""
        import pandas as pd

        frames = []
        for label, record in self.by_label.items():
            frame = record.to_frame().drop(columns="label", errors="ignore")
            frame.insert(0, "label", label)
            frames.append(frame)
        table: DataFrame = pd.concat(frames, ignore_index=True)
        return table

    def _in_words(self) -> str:
        if len(self.by_label) == 1:
            return str(self.record)
        return "\n".join(f"{label}: {record}" for label, record in self.by_label.items())
