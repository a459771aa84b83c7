"""What each layer costs in error and gives in speed, and what to leave in float."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.command import Command
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.feature import Feature
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import ShowProgress
from workbench.core.text import in_ms, printable
from workbench.features.accuracy.sensitivity import LayerVariants, propose, with_measured_cost
from workbench.features.accuracy.sensitivity_record import ProposalRecord, SensitivityRecord
from workbench.features.base.registry import KINDS
from workbench.features.base.result import Result


class Sensitivity(Result):
    """What each layer costs in error and gives in speed. Made by `wb.sensitivity`."""

    record: SensitivityRecord
    _variants: LayerVariants | None = None
    _progress: bool = True  # whether it was measured with a progress bar

    def with_model(self, variants: LayerVariants, progress: bool) -> Sensitivity:
        """Keep the model at hand, so that `propose` works."""
        self._variants, self._progress = variants, progress
        return self

    def propose(
        self, *, max_error: float, remeasure: bool = True, budget_s: float | None = None,
        progress: ShowProgress | None = None,
    ) -> Proposal:  # fmt: skip
        """Propose what to leave in float so that the error is at most `max_error` (0.01: 1 % of the output).

        Every set that is tried is measured. `remeasure` also compares the proposal's latency, interleaved,
        with the config that quantizes everything.
        """
        if self._variants is None:
            raise ConfigError(
                "the model is not at hand", "make the sensitivity again: wb.sensitivity(model, …)"
            )
        check_budget(max_error)
        variants = self._variants
        progress = self._progress if progress is None else progress
        with bar(progress) as on_progress:
            variants.on_progress = on_progress
            proposal = propose(variants, self.record, max_error)
        config = variants.excluding(proposal.nodes) if proposal.nodes else variants.config
        comparison = None
        left_out = len(proposal.excluded)
        if remeasure and proposal.met and proposal.nodes and left_out < len(variants.groups):
            comparison = KINDS.named("comparison").function(
                variants.model, variants.config, config, calibration=variants.calibration, budget_s=budget_s,
                progress=progress, cancel=variants.cancel, worker_limits=variants.limits, keep=False,
            )  # fmt: skip
            proposal = with_measured_cost(proposal, comparison.record)
        return Proposal(proposal, config, comparison)

    def _in_words(self) -> str:
        return "\n".join([str(self.record), *(f"note: {note}" for note in self.record.notes)])


@dataclass(frozen=True, eq=False, repr=False)
class Proposal:
    """What to leave in float to meet an error budget. Made by `wb.exclude_for` and `Sensitivity.propose`.

    `config` is ready to use; `comparison` is that config against the one that quantizes everything.
    """

    record: ProposalRecord
    config: Config
    comparison: Any  # what `wb.compare` returned; None: it was not measured

    @property
    def excluded(self) -> tuple[str, ...]:
        """The nodes, as `exclude` takes them; for float16 the types, as `blocked_ops` does."""
        return self.record.nodes

    @property
    def met(self) -> bool:
        """Whether the measured error is within the budget."""
        return self.record.met

    @property
    def error(self) -> float | None:
        """The measured error of the proposal."""
        return self.record.error

    def to_frame(self) -> DataFrame:
        """Return one row per set that was tried: how many layers it leaves out, and the error."""
        rows = [
            (len(attempt.excluded), "; ".join(attempt.excluded), attempt.error)
            for attempt in self.record.attempts
        ]
        return data_frame(rows, columns=["left_out", "layers", "error"]).astype({"error": "float64"})

    def __str__(self) -> str:
        lines = [str(self.record)]
        if self.comparison is not None:
            lines.append(f"measured against quantizing everything: {_verdict(self.comparison)}")
        return printable("\n".join(lines), keep="\n")

    __repr__ = __str__


def check_budget(max_error: object) -> None:
    """Refuse a budget that is no share of the output."""
    fix = "give a share of the output's size: 0.01 is 1 %"
    check_number("max_error", max_error, fix, what="error", least=0)


def _verdict(comparison: Any) -> str:
    verdict = comparison.verdict
    times = " and ".join(
        f"{run.label} {in_ms(run.latency.median_s) or 'not measured'}" for run in comparison.runs
    )
    return f"B is {verdict.kind} ({times})"


FEATURE = Feature(
    "sensitivity",
    SensitivityRecord,
    result=Sensitivity,
    chart="workbench.features.accuracy.layers_result:sensitivity_chart",
    call="workbench.features.accuracy.layers_call:sensitivity",
    command=Command(
        hints={
            "mode": "quantize each layer alone, or all but it",
            "by": "each layer, or blocks of them where there are many",
            "latency": "the time from profiles, or measured with one variant a layer",
            "items": "examples to run",
        },
    ),
    fact="sensitivity",
    takes=("data", "calibration", "seed", "progress"),
    needs=("precision",),
    heading="What each layer costs alone",
    button="Sensitivity",
    hint="Each layer quantized alone: its error, and the time it saves; for the config shown",
    step="each layer quantized alone",
    effort=(20.0, 60, 400),
    tabs=("Outputs",),
)
