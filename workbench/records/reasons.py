"""Why a config is slower than the baseline, or no faster: typed reasons with evidence, numbers and a fix."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

from workbench.errors import BundleError
from workbench.records.display import to_table
from workbench.records.kinds import Kind
from workbench.text import in_ms

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
]


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause. `cost_s` is what its nodes take in a run of the candidate, or grew by."""

    kind: ReasonKind
    sentence: str
    cost_s: float | None
    share: float | None  # of the candidate's time in nodes
    node_count: int
    nodes: tuple[str, ...]  # the costliest first, at most some; untrusted names
    fix: str


@dataclass(frozen=True, slots=True)
class WhySlowerRecord:
    """Reasons, the costliest first. Node times are shares of profiled runs, not latencies."""

    model_name: str
    baseline: str  # configs in words
    candidate: str
    baseline_s: float  # the median of some unprofiled runs
    candidate_s: float
    measured: str  # how these two were measured, or the verdict of a comparison
    integer_nodes: int
    integer_share: float | None  # of the time in nodes
    node_count: int
    reasons: tuple[Reason, ...]

    @property
    def ratio(self) -> float:
        """The baseline's time over the candidate's: below one, the candidate is slower."""
        return self.baseline_s / self.candidate_s

    def to_frame(self) -> pd.DataFrame:
        """One row a reason: kind, sentence, cost_ms, share, node_count, nodes, fix."""
        import pandas as pd

        rows = [
            (
                one.kind, one.sentence, None if one.cost_s is None else one.cost_s * 1e3, one.share,
                one.node_count, "; ".join(one.nodes), one.fix,
            )
            for one in self.reasons
        ]  # fmt: skip
        columns = ["kind", "sentence", "cost_ms", "share", "node_count", "nodes", "fix"]
        return pd.DataFrame(rows, columns=columns).astype({"cost_ms": "float64", "share": "float64"})

    @property
    def headline(self) -> str:
        """The two times, and how much of it is integer arithmetic."""
        share = "" if self.integer_share is None else f" and {self.integer_share * 100:.0f} % of their time"
        return (
            f"{self.candidate} takes {in_ms(self.candidate_s)}, {self.baseline} {in_ms(self.baseline_s)} "
            f"({self.measured}); {self.integer_nodes} of {self.node_count} nodes{share} are integer kernels"
        )

    def __str__(self) -> str:
        if not self.reasons:
            return f"{self.headline}\nnothing was found that costs time"
        return "\n".join([self.headline, *(f"- {one.sentence}\n  {one.fix}" for one in self.reasons)])

    def _repr_html_(self) -> str:
        rows = [
            (
                one.kind,
                one.sentence,
                in_ms(one.cost_s) or "",
                "" if one.share is None else f"{one.share * 100:.0f} %",
                one.fix,
            )
            for one in self.reasons
        ]
        table = to_table(("reason", "what was seen", "time", "share", "what to do"), rows, "reasons")
        return f"<p>{escape(self.headline)}</p>{table}"


def _check(record: WhySlowerRecord, fix: str) -> None:
    for name in ("baseline_s", "candidate_s"):
        if getattr(record, name) <= 0:
            raise BundleError(f"{name}: expected a time above 0.", fix)


def kind() -> Kind:
    """As bundles hold it."""
    return Kind("why slower", WhySlowerRecord, _check, None)
