"""Why a config is slower."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.command import Command
from workbench.core.errors import BundleError
from workbench.core.feature import Feature
from workbench.core.html_table import html_table
from workbench.core.text import in_ms, in_time
from workbench.features.base.result import Result
from workbench.features.findings.record import FindingRecord

OPEN_DIFFERENCE = (
    "open the difference node by node: result = wb.compare(model, baseline, candidate); "
    "result.examine('explanation', 'profile').flame()"
)

PER_RUN = " a run"  # ends the title of a reason that says its time


@dataclass(frozen=True, slots=True)
class WhySlowerRecord:
    """Reasons, the costliest first. Node times are shares of profiled runs times the latency."""

    model_name: str
    baseline: str  # label of the run
    candidate: str
    baseline_s: float
    candidate_s: float
    measured: str  # the verdict of the comparison
    integer_nodes: int
    integer_share: float | None  # share of the node time
    node_count: int
    reasons: tuple[FindingRecord, ...]
    configs: str  # the differences between the configs
    profiles: str | None  # the difference of the two profiles; None: not needed

    @property
    def ratio(self) -> float:
        """Return the baseline's time over the candidate's: below one, the candidate is slower."""
        return self.baseline_s / self.candidate_s

    def to_frame(self) -> DataFrame:
        """Return one row per reason: kind, sentence, cost_ms, share, node_count, nodes, fix."""
        attributes = ("id", "sentence", "cost_s", "cost_share", "node_count", "nodes", "fix.text")
        names = {"id": "kind", "cost_s": "cost_ms", "cost_share": "share", "fix.text": "fix"}
        frame = frame_of(self.reasons, attributes, ("cost_ms", "share"), names)
        frame["cost_ms"] *= 1e3
        return frame

    @property
    def costliest(self) -> str:
        """Return the costliest reason with its time, and how much longer the candidate takes in all."""
        if not self.reasons:
            return ""
        reason, lost_s = self.reasons[0], self.candidate_s - self.baseline_s
        parts = [reason.sentence]
        if reason.cost_text and not reason.title.endswith(PER_RUN):  # else the title has it
            parts.append(f"{reason.cost_text} of a run")
        if lost_s > 0:
            parts.append(f"{self.candidate} takes {in_time(lost_s)} longer")
        return "; ".join(parts)

    @property
    def headline(self) -> str:
        """Return the two times and the share of integer arithmetic, in words."""
        share = "" if self.integer_share is None else f" and {self.integer_share * 100:.0f} % of their time"
        return (
            f"{self.candidate} takes {in_ms(self.candidate_s)}, {self.baseline} {in_ms(self.baseline_s)} "
            f"({self.measured}); {self.integer_nodes} of {self.node_count} nodes{share} are integer kernels"
        )

    def __str__(self) -> str:
        lines = [f"- {reason.sentence}\n  {_cost(reason)}Fix: {reason.fix.text}" for reason in self.reasons]
        return "\n".join([self.headline, *(lines or self._without_reason())])

    def _repr_html_(self) -> str:
        rows = [(reason.id, reason.sentence, reason.cost_text, reason.fix.text) for reason in self.reasons]
        table = html_table(("reason", "what was seen", "time of a run", "what to do"), rows, "reasons")
        if not rows:
            table = "".join(f"<p>{escape(line)}</p>" for line in self._without_reason())
        return f"<p>{escape(self.headline)}</p>{table}"

    def _without_reason(self) -> tuple[str, ...]:
        """Return the known facts if no rule applies."""
        if self.ratio >= 1:
            return ("no reason that costs time",)
        parts = ("no known reason applies", self.configs, self.profiles, OPEN_DIFFERENCE)
        return tuple(part for part in parts if part)


def _cost(reason: FindingRecord) -> str:
    return f"{reason.cost_text} of a run. " if reason.cost_text else ""


def check_reasons(record: WhySlowerRecord, fix: str) -> None:
    """Refuse times that are not positive."""
    for name in ("baseline_s", "candidate_s"):
        if getattr(record, name) <= 0:
            raise BundleError(f"{name}: expected a time above 0.", fix)


class WhySlower(Result):
    """Why a config is slower, or no faster, than another. Made by `wb.why_slower`."""

    record: WhySlowerRecord

    @property
    def reasons(self) -> tuple[FindingRecord, ...]:
        """The findings that hold for the slower config alone, the costliest first."""
        return self.record.reasons


FEATURE = Feature(
    "why slower",
    WhySlowerRecord,
    check_reasons,
    result=WhySlower,
    chart="workbench.features.why_slower.chart:why_slower_chart",
    per="candidate",
    call="workbench.features.why_slower.call:why_slower",
    command=Command(
        hints={
            "config": "a setting of the config to explain; may be repeated",
            "baseline": "a setting of what it is compared with; default: it in float, or ORT's defaults",
            "label": "of a saved comparison, the letter of the config to explain; default B",
        },
    ),
    takes=("progress",),
    needs=("comparison",),
    cards="workbench.features.why_slower.cards:cards",
    heading="Why B is slower",
    button="Why B is slower",
    hint="What costs B its time against A, with a fix for each cause: both run again under ORT's profiler",
    step="A and B under ORT's profiler",
    effort=(2.0, 8, 60),
    next_question=(3, "slower", "Why is {label} slower?"),
    tabs=("Where time goes",),
)
