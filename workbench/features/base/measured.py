"""Results that a person may stop, most of them on a comparison of their own: levels, versions, a study."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import figured, paragraph, table
from workbench.features.base.result import Result

if TYPE_CHECKING:
    from workbench.drawing.chart import Chart


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
