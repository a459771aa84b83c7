"""Reasons why a config is slower than the baseline, or no faster: typed, with evidence, numbers and a fix."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

from workbench.core.bundle.display import frame_of, to_table
from workbench.core.errors import BundleError
from workbench.core.text import in_ms

if TYPE_CHECKING:
    import pandas as pd

ReasonKind = Literal[
    "convolutions quantized while running",
    "quantizing while running",
    "layers left in float",
    "quantize and dequantize left",
    "few integer kernels",
    "no integer instructions",
    "16-bit activations",
    "casts",
    "fusions lost",
    "fallback",
    "blocks computed in float",
    "more nodes",
    "kernels that take longer",
    "other nodes do the work",
    "the same nodes take longer",
    "time between nodes",
]
OPEN_DIFFERENCE = (
    "open the difference node by node: result = wb.compare(model, baseline, candidate); "
    "result.examine('explanation', 'profile').flame()"
)


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause. `cost_s` is the time of its nodes in a run of the candidate, or the growth of that time."""

    kind: ReasonKind
    sentence: str
    cost_s: float | None
    share: float | None  # share of the candidate's run
    node_count: int
    nodes: tuple[str, ...]  # the costliest first, limited in number; untrusted names
    fix: str


@dataclass(frozen=True, slots=True)
class WhySlowerRecord:
    """Reasons, the costliest first. Node times are shares of profiled runs times the latency."""

    model_name: str
    baseline: str  # config in words
    candidate: str
    baseline_s: float  # the median of a few unprofiled runs
    candidate_s: float
    measured: str  # how both were measured, or the verdict of a comparison
    integer_nodes: int
    integer_share: float | None  # share of the node time
    node_count: int
    reasons: tuple[Reason, ...]
    configs: str  # the differences between the configs
    profiles: str | None  # the difference of the two profiles; None: not needed

    @property
    def ratio(self) -> float:
        """Return the baseline's time over the candidate's: below one, the candidate is slower."""
        return self.baseline_s / self.candidate_s

    def to_frame(self) -> pd.DataFrame:
        """Return one row per reason: kind, sentence, cost_ms, share, node_count, nodes, fix."""
        attributes = ("kind", "sentence", "cost_s", "share", "node_count", "nodes", "fix")
        frame = frame_of(self.reasons, attributes, ("cost_ms", "share"), {"cost_s": "cost_ms"})
        frame["cost_ms"] *= 1e3
        return frame

    @property
    def headline(self) -> str:
        """Return the two times and the share of integer arithmetic, in words."""
        share = "" if self.integer_share is None else f" and {self.integer_share * 100:.0f} % of their time"
        return (
            f"{self.candidate} takes {in_ms(self.candidate_s)}, {self.baseline} {in_ms(self.baseline_s)} "
            f"({self.measured}); {self.integer_nodes} of {self.node_count} nodes{share} are integer kernels"
        )

    def __str__(self) -> str:
        lines = [f"- {reason.sentence}\n  {reason.fix}" for reason in self.reasons]
        return "\n".join([self.headline, *(lines or self._without_reason())])

    def _repr_html_(self) -> str:
        rows = [
            (
                reason.kind,
                reason.sentence,
                in_ms(reason.cost_s) or "",
                "" if reason.share is None else f"{reason.share * 100:.0f} %",
                reason.fix,
            )
            for reason in self.reasons
        ]
        table = to_table(("reason", "what was seen", "time", "share", "what to do"), rows, "reasons")
        if not rows:
            table = "".join(f"<p>{escape(line)}</p>" for line in self._without_reason())
        return f"<p>{escape(self.headline)}</p>{table}"

    def _without_reason(self) -> tuple[str, ...]:
        """Return the known facts if no rule applies."""
        if self.ratio >= 1:
            return ("no reason that costs time",)
        parts = ("no known reason applies", self.configs, self.profiles, OPEN_DIFFERENCE)
        return tuple(part for part in parts if part)


def check_reasons(record: WhySlowerRecord, fix: str) -> None:
    """Refuse times that are not positive."""
    for name in ("baseline_s", "candidate_s"):
        if getattr(record, name) <= 0:
            raise BundleError(f"{name}: expected a time above 0.", fix)
