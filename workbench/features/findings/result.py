"""Findings as notebooks hold them: a list whose entries can be tried."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.origin import Origin
from workbench.core.command import Command
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.feature import Feature
from workbench.core.measure.bar import steps as shown_steps
from workbench.core.measure.limits import ShowProgress
from workbench.core.models import Inputs, Model, load
from workbench.core.prepare.preparing import prepare
from workbench.core.prepare.real_data import check_examples, data_from, inputs_from
from workbench.core.text import printable
from workbench.features.accuracy.sensitivity import searching_mode
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.measured import PerRun
from workbench.features.base.registry import KINDS
from workbench.features.base.result import origin_of
from workbench.features.base.running import finding_inputs
from workbench.features.findings.fix_result import FixResult, decide
from workbench.features.findings.gather import gather, known_accuracy
from workbench.features.findings.html import FindingHtml, finding_html, head_html, rest_html
from workbench.features.findings.known import Known
from workbench.features.findings.record import FindingRecord, FindingsRecord, badges, check_findings
from workbench.features.findings.rule import judges_accuracy, look
from workbench.features.profile.examining import profile_of_run

if TYPE_CHECKING:
    import plotly.graph_objects as go


ERROR_GAIN = 0.10  # of the error against float32; a fix for accuracy is kept from this part on


@dataclass(frozen=True, slots=True)
class FixTarget:
    """What a finding is tried on."""

    model: Model
    inputs: Inputs | None = None
    calibration: Any = None


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """The facts of one finding, its fix, and the way to try it. Made by `wb.findings`."""

    record: FindingRecord
    config: Config
    subject: FixTarget | None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.record, name)

    @property
    def html(self) -> FindingHtml:
        """Its gain, its title with the evidence, and its fix."""
        return finding_html(self.record)

    def try_fix(
        self,
        budget_s: float | None = None,
        *,
        progress: ShowProgress = True,
        cancel: threading.Event | None = None,
        keep: bool = True,
    ) -> FixResult:
        """Apply the fix, compare the outputs, measure both configs, and say whether to keep it."""
        if not self.record.fix.can_try:
            raise WorkbenchError(
                f"{self.record.title}: its fix is no change of the config",
                f"do it by hand: {self.record.fix.text}",
            )
        if self.subject is None:
            raise WorkbenchError(
                "the model is not at hand, so nothing can be tried",
                "attach it first: result.attach(model).findings(), or wb.findings(model)",
            )
        changed, before = self.record.fix.config, self.config
        if changed is None:  # what the layers cost is measured against the config that has none of them
            changed, before = self._searched(self.subject, progress, cancel), before.replace(precision=None)
        comparison = KINDS.named("comparison").function(
            self.subject.model, before, changed,
            inputs=self.subject.inputs, calibration=self.subject.calibration, budget_s=budget_s,
            least_sqnr_db=self.record.fix.least_sqnr_db, progress=progress, cancel=cancel, keep=keep,
        )  # fmt: skip
        if self.record.gain.subject == "accuracy" and comparison.runs[1].failure is None:
            kept, reason = self._errs_less(self.subject, changed, comparison, progress, cancel)
        else:
            kept, reason = decide(self.record, comparison)
        if not kept:
            return FixResult(self.record, kept, reason, self.config, comparison)
        file = None  # the comparison loaded the model as it is
        if changed.changes_model:
            prepared = prepare(
                self.subject.model, changed, calibration=self.subject.calibration, cancel=cancel
            )
            file = Path(prepared.model.path)
        return FixResult(self.record, kept, reason, changed, comparison, file)

    def _searched(
        self,
        subject: FixTarget,
        progress: ShowProgress,
        cancel: threading.Event | None,
    ) -> Config:
        """Return the config with the fewest layers in float that meets the error; refuse if none does."""
        max_error = self.record.fix.max_error
        assert max_error is not None
        study = KINDS.named("sensitivity").function(
            subject.model, self.config, mode=searching_mode(self.config), latency=None,
            calibration=subject.calibration, progress=progress, cancel=cancel,
        )  # fmt: skip
        proposal = study.propose(max_error=max_error, remeasure=False, progress=progress)
        if not proposal.met or proposal.config == self.config:
            raise WorkbenchError(
                f"{self.record.title}: {proposal.record.reason}",
                "leave precision out, or use another one, such as wb.Float16()",
            )
        config: Config = proposal.config
        return config

    def _errs_less(
        self,
        subject: FixTarget,
        changed: Config,
        comparison: Any,
        progress: ShowProgress,
        cancel: threading.Event | None,
    ) -> tuple[bool, str]:
        """Whether the fix brings the outputs nearer to those of float32, and the errors."""
        configs = (self.config.replace(precision=None), self.config, changed)
        table = KINDS.named("accuracy").function(
            subject.model, *configs, calibration=subject.calibration, progress=progress, cancel=cancel
        )
        before, after = (table.record.error(label) for label in "BC")
        words = str(comparison).splitlines()[0]
        if before is None or after is None:
            return False, f"The error against float32 is not known; {words}"
        errors = f"error against float32 {before * 100:.3g} %, with the fix {after * 100:.3g} %"
        return after <= (1 - ERROR_GAIN) * before, f"{errors}; {words}"

    def __str__(self) -> str:
        return printable(str(self.record), keep="\n")

    def __repr__(self) -> str:
        return f"<Finding {self.record.id}: {printable(self.record.headline)}>"

    def _repr_html_(self) -> str:
        return self.record._repr_html_()


class Findings(PerRun):
    """What costs time or memory here, with the evidence and the fix of each. Made by `wb.findings`."""

    kind = "findings"
    record: FindingsRecord
    target: FixTarget | None = None

    @classmethod
    def made(
        cls, records: dict[str, FindingsRecord], about: Origin | None = None, subject: FixTarget | None = None
    ) -> Findings:
        """Findings of one or more runs, with what they can be tried on."""
        findings = cls.of(records, about)
        findings.target = subject
        return findings

    def __iter__(self) -> Iterator[Finding]:
        for record in self.by_label.values():
            for finding in record.findings:
                yield Finding(finding, record.config, self.target)

    def __len__(self) -> int:
        return sum(len(record.findings) for record in self.by_label.values())

    def __getitem__(self, key: int | str) -> Finding:
        """The finding at this position, or with this id."""
        if isinstance(key, int):
            return list(self)[key]
        matching = next((finding for finding in self if finding.record.id == key), None)
        if matching is None:
            raise KeyError(key)
        return matching

    def to_try(self, finding: FindingRecord) -> Finding:
        """Return a finding of this config, with what it can be tried on."""
        return Finding(finding, self.record.config, self.target)

    @property
    def badges(self) -> dict[str, str]:
        """The titles of the findings by node, for marks in the views; small findings have none."""
        return badges(self.by_label.values())

    @property
    def judges_accuracy(self) -> bool:
        """Whether a rule about accuracy looked, which takes labelled examples."""
        return judges_accuracy(self.record)

    def html(self, label: str) -> tuple[str, str]:
        """Return what stands above and below the findings of a config, which is called `label`."""
        return head_html(label, self.record), rest_html(self.record)

    def figure(self) -> go.Figure | None:
        """Draw the predicted savings; return None where nothing was found."""
        return super().figure() if len(self) else None


def examine(run: ExaminedRun) -> FindingsRecord:
    """Look at one run of a comparison; what was examined before is used again."""
    explained, profile = run.record("explanation"), profile_of_run(run)
    run.announce("findings")
    facts: dict[str, Any] = {
        kind.fact: run.records.get(kind.name if kind.per == "runs" else f"{kind.name}/{run.label}")
        for kind in KINDS
        if kind.fact
    }
    known = Known(
        explained=explained,
        profile=profile,
        run=run.run,
        comparison=run.comparison,
        pacing_s=run.comparison.protocol.pacing_s,
        runnable=run.runnable(),
        **facts,
    )
    evidence = gather(
        run.model, run.config, run.inputs, known=known, calibration=run.calibration, cancel=run.cancel,
        on_step=run.announce,
    )  # fmt: skip
    return look(evidence)


@finding_inputs
def findings(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Inputs | Any = None,
    data: Any = None,
    seed: int = 0,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] | None = None,
) -> Findings:
    """Look for lost time, memory and accuracy, each with its evidence, its fix and the predicted gain.

    The model is explained, profiled for a moment and its weights are read once; nothing is measured against
    anything yet: `finding.try_fix()` does that, and `wb.improve` for all of them.

    `data`: labelled examples, as `wb.accuracy` takes them, for the findings about accuracy. `on_step` is told
    each step that begins; by default a bar shows them.
    """
    loaded, chosen = load(model), config or Config()
    data = data_from(loaded, data, None)
    check_examples(loaded, data, calibration)
    fed = inputs_from(loaded, inputs, seed=seed)
    loaded = loaded.with_inputs(fed)
    known = None
    with shown_steps(on_step) as report:
        if data is not None:
            report("accuracy")
            known = known_accuracy(loaded, chosen, data, calibration=calibration, cancel=cancel)
        evidence = gather(
            loaded, chosen, fed, known=known, calibration=calibration, cancel=cancel, on_step=report
        )
    about = origin_of(loaded, chosen, fed, cancel=cancel)
    return Findings.made({"A": look(evidence)}, about, FixTarget(loaded, fed, calibration))


FEATURE = Feature(
    "findings",
    FindingsRecord,
    check_findings,
    result=Findings,
    chart="workbench.features.findings.chart:findings_chart",
    per="run",
    call="workbench.features.findings.result:findings",
    takes=("inputs", "seed", "calibration", "on_step"),
    examine=examine,
    heading="Findings",
    button="Find improvements",
    hint="Look for lost time, memory and accuracy under A and B, with a fix and its predicted gain",
    effort=(3.0, 14, 60),
    role="finds",
    tabs=("Improve",),
    command=Command(text=str),
)
