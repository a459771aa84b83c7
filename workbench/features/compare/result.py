"""Two or more configs measured interleaved, with everything that was examined about their runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement, Verdict
from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.kinds import Part, about_comparison, check_comparison
from workbench.core.bundle.run import Run
from workbench.core.command import Command
from workbench.core.feature import Feature
from workbench.core.measure.bar import bar, steps
from workbench.core.measure.gates import of_comparison
from workbench.core.measure.limits import ShowProgress
from workbench.core.measure.percentiles import percentiles_frame
from workbench.core.measure.wording import report, sentence
from workbench.core.prepare.real_data import data_from
from workbench.core.text import printable
from workbench.drawing.agreement import agreement_chart
from workbench.drawing.page.document import Document
from workbench.drawing.resources import resources_chart
from workbench.features.accuracy.accuracy import accuracy
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.base.examining import ExaminedRun, check_kinds, inputs_again, missing_model
from workbench.features.base.result import origin_of
from workbench.features.compare.parts import ResultWithParts
from workbench.features.findings.result import Findings, FixTarget

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Comparison(ResultWithParts):
    """Two or more configs of a model, measured interleaved, and the verdict. Made by `wb.compare`."""

    record: ComparisonRecord
    source: str = ""  # the Python that opens it, where that is not its id in the history of this machine
    parts_of_source: frozenset[str] = frozenset()  # those that are opened with it

    @property
    def verdict(self) -> Verdict:
        """The verdict on the first candidate."""
        return self.record.verdict

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict per candidate."""
        return self.record.verdicts

    @property
    def runs(self) -> tuple[Run, ...]:
        """One run per config, the baseline first."""
        return self.record.runs

    @property
    def agreement(self) -> tuple[OutputAgreement, ...]:
        """Each output of each candidate against the baseline's."""
        return self.record.agreement

    @property
    def has_model(self) -> bool:
        """Whether the model is at hand; a reopened result needs `attach`."""
        return self._model is not None

    def _with_rounds(self, rounds: ComparisonRecord) -> Self:
        return type(self)(rounds, structure=self.structure, parts=self.parts)

    def examine(
        self,
        *kinds: str,
        again: bool = False,
        cancel: threading.Event | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> Self:
        """Make what is missing for each run: `result.examine("memory")`; or every kind.

        What was made is kept with the result, and in its entry of the history. A run that failed has none.
        `again` makes these kinds anew, of what else is known by now. `on_step` is told each step with its
        time; by default they are shown where the comparison was measured with a progress bar.
        """
        chosen = check_kinds(kinds)
        if self._model is None:
            problem = f"{', '.join(chosen)} cannot be made: the model is not at hand"
            raise missing_model(problem, "examine(…)")

        def keep(part: Part) -> None:
            self.parts = (*(other for other in self.parts if other.name != part.name), part)

        inputs = self._inputs or inputs_again(self._model, self.record)
        before = self.parts
        model = self._model.with_inputs(inputs)
        held = [part for part in before if not (again and part.kind in chosen)]
        with steps(on_step, self._progress) as report:
            examined = [
                ExaminedRun(
                    run=run, comparison=self.record, model=model, inputs=inputs,
                    calibration=self._calibration, records={part.name: part.record for part in held},
                    on_part=keep, on_step=report, cancel=cancel,
                )
                for run in self.runs
                if run.failure is None
            ]  # fmt: skip
            try:
                for kind in chosen:  # of every run, before the next one: what is quick is there first
                    for run in examined:
                        run.record(kind)
            finally:
                if self.parts is not before:
                    self._update_history()
        return self

    def accuracy(
        self,
        data: Any = None,
        *,
        metric: str | Callable[[Mapping[str, Any], Any], Any] | None = None,
        output: str | None = None,
        scores: Mapping[str, bool] | None = None,
        items: int | None = None,
        batch: int | None = None,
        progress: ShowProgress | None = None,
        cancel: threading.Event | None = None,
    ) -> AccuracyTable:
        """Return accuracy with labels, and the error of every output, of every config; see `wb.accuracy`.

        It is kept with the result. Without arguments the kept one is returned, also without the model.
        By default a progress bar is shown if the comparison was measured with one.
        """
        given = any(value is not None for value in (data, metric, output, scores, items, batch))
        if not given and any(part.kind == "accuracy" for part in self.parts):
            return AccuracyTable.of_part(self._part("accuracy"))
        if self._model is None:
            raise missing_model("the accuracy cannot be measured: the model is not at hand", "accuracy()")
        with bar(self._progress if progress is None else progress) as on_progress:
            record = accuracy(
                self._model, [run.config for run in self.runs], data=data_from(self._model, data, items),
                metric=metric, output=output,
                scores=scores, calibration=self._calibration, most=items, batch=batch,
                labels=[run.label for run in self.runs], cancel=cancel, on_progress=on_progress,
            )  # fmt: skip
        table = AccuracyTable(record, origin_of(self._model, self.runs[0].config))
        self.add(table)
        return table

    def findings(
        self, *, cancel: threading.Event | None = None, on_step: Callable[[str], None] | None = None
    ) -> Findings:
        """Return what is lost under each config and what would fix it; examines what is missing."""
        if self._model is None:
            return Findings.made(self._records("findings"))
        self.examine("findings", cancel=cancel, on_step=on_step)
        inputs = self._inputs or inputs_again(self._model, self.record)
        return Findings.made(
            self._records("findings"), None, FixTarget(self._model, inputs, self._calibration)
        )

    def percentiles(self) -> DataFrame:
        """Return latency percentiles and throughput of each run, with intervals over processes."""
        return percentiles_frame(self.runs)

    def resources_figure(self) -> go.Figure:
        """Draw peak memory, load time and first run of each config."""
        from workbench.drawing.chart_figure import chart_figure

        return chart_figure(resources_chart(self.record))

    def agreement_figure(self) -> go.Figure:
        """Draw how near each output of each candidate is to the baseline's."""
        from workbench.drawing.chart_figure import chart_figure

        return chart_figure(agreement_chart(self.record))

    def document(self) -> Document:
        """Return the page: what was measured, every part, and how it was measured."""
        from workbench.features.base.page import add_measured, add_protocol, lead
        from workbench.features.compare.part_sections import add_parts

        record = self.record
        labels = " and ".join(run.label for run in self.runs)
        page = Document(f"{record.model.name}: {labels} compared", lead(record, self.time_elsewhere()))
        add_measured(page, record)
        add_parts(page, self)
        add_protocol(page, record)
        return page

    def _in_words(self) -> str:
        text = report(self.record, self.time_elsewhere())
        return f"{text}\n  why: {self.why}" if self.why else text

    def __repr__(self) -> str:
        return f"<Comparison {self.record.id}: {printable(sentence(self.record, self.verdict))}>"


FEATURE = Feature(
    "comparison", ComparisonRecord, check_comparison, about_comparison, result=Comparison,
    per="runs",
    call="workbench.features.compare.call:compare",
    cards="workbench.features.compare.cards:cards",
    gates=of_comparison,
    command=Command(
        example="bert-base --b level=all --b intra_op_threads=2",
        call="workbench.features.compare.command:compare",
        names={"outputs": ""},  # rename_output and ignore_outputs say it
        hints={
            "more": "go on measuring this saved comparison of the model, on the same machine",
            "rename_output": "an output of the model that has another name in the further files",
            "ignore_outputs": "compare the time alone of different nets",
            "budget_s": "seconds that it may take; default: about 10, up to a minute more while it is open",
            "seed": "seed of random inputs and of the order of measuring",
            "clock": "cpu: compare processor time at one thread, which other programs hardly disturb",
        },
    ),
)  # fmt: skip
