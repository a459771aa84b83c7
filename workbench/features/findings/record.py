"""Findings: what costs time or memory in a model, the evidence, the fix, and the predicted gain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Literal

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.core.html_table import html_table
from workbench.core.text import counted, factor, factor_ends, in_ms, shorten

Confidence = Literal["sure", "likely", "maybe"]
Subject = Literal["time", "memory", "load", "accuracy", "correctness"]
FixKind = Literal["config", "rewrite", "export", "note"]

ALL_FINE = "Nothing found that is worth your time"
LACKING = ", "  # between the missing facts of a rule that could not run
_MOST_REASONS = 8
FAILED = "failed: "  # how the reason of a rule that failed begins
MOST_BADGES = 2_000  # nodes of one finding that are marked
LEAST_TIME_SHARE = 0.03  # a finding below this share is listed as small; FINDINGS, "When to speak"
LEAST_MEMORY_SHARE = 0.10
LEAST_LOAD_SHARE = 0.20
MOST_SHARE = 0.99  # of a run that fixes can save together


@dataclass(frozen=True, slots=True)
class Gain:
    """The predicted saving of a fix: seconds of a run or of the load, or bytes; `share` of the whole."""

    subject: Subject
    saved: float | None  # None: only a measurement can tell
    low: float | None
    high: float | None
    share: float | None

    @classmethod
    def unknown(cls, subject: Subject) -> Gain:
        """Return a gain that only a measurement can tell."""
        return cls(subject, None, None, None, None)

    @property
    def is_small(self) -> bool:
        """Return whether the gain is below the threshold of its subject, if that has one."""
        least = {"time": LEAST_TIME_SHARE, "memory": LEAST_MEMORY_SHARE, "load": LEAST_LOAD_SHARE}
        return self.subject in least and self.share is not None and self.share < least[self.subject]

    @property
    def speed_up(self) -> float | None:
        """Return the predicted ratio of run times; None if unknown or if the finding is not about time."""
        if self.subject != "time" or self.share is None or self.share >= 1:
            return None
        return 1 / (1 - self.share)

    @property
    def ratio_text(self) -> str:
        """Return the predicted speed-up with its interval; empty if unknown."""
        if self.speed_up is None:
            return ""
        return factor(self.speed_up, *self._ends) + factor_ends(*self._ends)

    @property
    def factor(self) -> str:
        """Return the predicted speed-up with the digits that its interval leaves; empty if unknown."""
        return "" if self.speed_up is None else factor(self.speed_up, *self._ends)

    @property
    def _ends(self) -> tuple[float | None, float | None]:
        if not self.saved or not self.share or self.low is None or self.high is None:
            return None, None
        run_s = self.saved / self.share
        if max(self.low, self.high) >= run_s:
            return None, None
        return 1 / (1 - self.low / run_s), 1 / (1 - self.high / run_s)


@dataclass(frozen=True, slots=True)
class Fix:
    """The remedy for a finding. `config`: the whole changed config, if the fix is a config change."""

    kind: FixKind
    text: str
    config: Config | None = None
    rewrite: str | None = None  # the name of a model rewrite
    code: str = ""  # for an exporter or a server, if neither a config nor a rewrite applies
    least_sqnr_db: float | None = None  # required SQNR of the outputs; None: the default of the precision
    max_error: float | None = None  # of the outputs, for which a search finds what to leave in float

    @property
    def can_try(self) -> bool:
        """Return whether the fix is a changed config, or a search finds one."""
        return self.config is not None or self.max_error is not None


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """One observation. Node names come from the model and are untrusted text."""

    id: str
    title: str
    evidence: tuple[str, ...]
    nodes: tuple[str, ...]
    confidence: Confidence
    gain: Gain
    fix: Fix
    caution: str = ""  # why the finding might be wrong, or what the fix costs
    source: str = ""  # the source of the rule
    node_count: int = 0  # with those that `nodes` leaves out
    cost_s: float | None = None  # of these nodes in a run; None: no time of theirs is known
    cost_share: float | None = None  # of the run

    @property
    def sentence(self) -> str:
        """Return the title with the evidence."""
        return "; ".join((self.title, *self.evidence))

    @property
    def cost_text(self) -> str:
        """Return the time of the nodes with its share of the run; empty if unknown."""
        share = "" if self.cost_share is None else f" ({self.cost_share * 100:.0f} %)"
        return "" if self.cost_s is None else f"{in_ms(self.cost_s)}{share}"

    @property
    def is_small(self) -> bool:
        return self.gain.is_small

    @property
    def headline(self) -> str:
        """Return the title with the predicted gain."""
        if self.gain.speed_up is None:
            return self.title
        return f"{self.title}: {self.gain.factor} faster ({self.confidence})"

    def __str__(self) -> str:
        lines = [self.headline, *(f"  {text}" for text in self.evidence), f"  Fix: {self.fix.text}"]
        return "\n".join([*lines, *([f"  Caution: {self.caution}"] if self.caution else [])])

    def _repr_html_(self) -> str:
        evidence = "".join(f"<li>{escape(text)}</li>" for text in self.evidence)
        caution = f"<p>{escape(self.caution)}</p>" if self.caution else ""
        return f"<b>{escape(self.headline)}</b><ul>{evidence}</ul><p>{escape(self.fix.text)}</p>{caution}"


@dataclass(frozen=True, slots=True)
class NotLooked:
    """A rule that could not run, and the reason: missing data, or a failure."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class FindingsRecord:
    """All findings of one config of one model, the largest gain first."""

    model_name: str
    config: Config
    run_s: float | None  # the latency that shares refer to
    findings: tuple[FindingRecord, ...]
    looked: tuple[str, ...]  # ids of the rules that ran
    not_looked: tuple[NotLooked, ...]
    fine: tuple[str, ...] = ()  # correct properties, listed so that silence is information

    @property
    def large(self) -> tuple[FindingRecord, ...]:
        """Return the findings that are worth a try."""
        return tuple(finding for finding in self.findings if not finding.is_small)

    @property
    def small(self) -> tuple[FindingRecord, ...]:
        """Return the findings below the threshold."""
        return tuple(finding for finding in self.findings if finding.is_small)

    def key_of(self, finding: FindingRecord) -> int | str:
        """Return what gives a finding of these: its id, or its position where an earlier one has that id."""
        same = [other for other in self.findings if other.id == finding.id]
        return self.findings.index(finding) if finding in same[1:] else finding.id

    @property
    def together(self) -> float | None:
        """Return the predicted speed-up of all fixes: savings on different nodes add up.

        Of fixes that share nodes, the first one counts; one whose list of nodes is cut may share any of them.
        None: there are no two to add.
        """
        covered: set[str] = set()
        shares: list[float] = []
        for finding in self.large:
            nodes, share = set(finding.nodes), finding.gain.share
            is_fixed = finding.gain.speed_up is not None and finding.fix.config is not None
            is_cut = finding.node_count > len(nodes)
            if is_fixed and share and nodes and not (shares if is_cut else nodes & covered):
                covered |= nodes
                shares.append(share)
                if is_cut:
                    break
        return 1 / (1 - sum(shares)) if len(shares) > 1 and sum(shares) < MOST_SHARE else None

    @property
    def looked_text(self) -> str:
        """Return how many rules ran, how many could not, and what these lacked."""
        looked = f"{counted(len(self.looked), 'rule')} looked"
        if not self.not_looked:
            return looked
        missing = [entry.reason for entry in self.not_looked if not entry.reason.startswith(FAILED)]
        lacking = Counter(word for reason in missing for word in reason.split(LACKING))
        reasons = [shorten(word) for word, _ in lacking.most_common(_MOST_REASONS)]
        failed = len(self.not_looked) - len(missing)
        reasons += [f"{failed} failed"] if failed else []
        return f"{looked}, {len(self.not_looked)} could not" + (f" ({', '.join(reasons)})" if reasons else "")

    @property
    def headline(self) -> str:
        """Return the number of findings and of rules that ran, in words."""
        count = len(self.large)
        if not count:
            return f"{self.model_name}: {ALL_FINE[0].lower()}{ALL_FINE[1:]}: {self.looked_text}"
        return f"{self.model_name}: {count} finding{'s' * (count > 1)} worth a try ({self.looked_text})"

    def to_frame(self) -> DataFrame:
        """Return one row per finding: id, title, confidence, subject, saved, low, high, share, fix, nodes."""
        attributes = (
            *("id", "title", "confidence", "gain.subject"),
            *("gain.saved", "gain.low", "gain.high", "gain.share"),
            *("fix.kind", "fix.text", "nodes"),
        )
        names = {"fix.kind": "fix_kind", "fix.text": "fix"}
        return frame_of(self.findings, attributes, ("saved", "low", "high", "share"), names)

    def __str__(self) -> str:
        parts = [self.headline, *(str(finding) for finding in self.large)]
        if self.together is not None:
            parts.append(f"Together {factor(self.together)} faster: savings on different nodes add up")
        if self.small:
            parts.append("Small things: " + "; ".join(finding.title for finding in self.small))
        parts += [f"Fine: {text}" for text in self.fine]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        rows = [
            (finding.headline, " ".join(finding.evidence), finding.fix.text, finding.confidence)
            for finding in self.findings
        ]
        return html_table(("finding", "evidence", "fix", "confidence"), rows, self.headline)


def check_findings(record: FindingsRecord, fix: str) -> None:
    """Refuse shares that no prediction could have."""
    for finding in record.findings:
        share = finding.gain.share
        if share is not None and not 0 <= share <= 1:
            raise BundleError(f"findings: {finding.id} has a share of {share}.", fix)


def badges(records: Iterable[FindingsRecord]) -> dict[str, str]:
    """Return the titles of the findings by node, for marks in the views; small findings have none."""
    titles: dict[str, dict[str, None]] = {}
    for record in records:
        for finding in record.large:
            for node in finding.nodes[:MOST_BADGES]:
                titles.setdefault(node, {})[finding.title] = None
    return {node: "; ".join(texts) for node, texts in titles.items()}
