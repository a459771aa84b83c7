"""What each pass is worth: from a comparison in which each was switched off alone, beside an A/A control."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Literal

from workbench.analysis.passes import FiredPass, Passes
from workbench.config import Config
from workbench.records.comparison import ComparisonRecord, OutputAgreement, Verdict
from workbench.text import counted, shorten

if TYPE_CHECKING:
    import pandas as pd

Effect = Literal["helps", "hurts", "no effect", "unknown"]


@dataclass(frozen=True, slots=True)
class Worth:
    """One pass off alone. `worth` is the share of time that it takes longer without: 0.3 is 30 %."""

    name: str
    levels: tuple[int, ...]
    effect: Effect
    worth: float | None
    low: float | None
    high: float | None
    nodes_removed: int
    nodes_added: int
    outputs_agree: bool | None
    relative_error: float | None  # the largest of any output; None: not comparable, or not compared
    reason: str


@dataclass(frozen=True, slots=True)
class AblationRecord:
    """All passes that fired, and the control: the same config twice, whose worth should be nothing."""

    model_name: str
    config: Config
    rows: tuple[Worth, ...]
    control: Worth
    comparison: ComparisonRecord

    def to_frame(self) -> pd.DataFrame:
        """One row a pass, and the control last; shares of time, not percent."""
        import pandas as pd

        columns = [
            "pass", "levels", "effect", "worth", "low", "high", "nodes_removed", "nodes_added",
            "outputs_agree", "relative_error", "reason",
        ]  # fmt: skip
        rows = [
            (
                one.name, ", ".join(map(str, one.levels)), one.effect, one.worth, one.low, one.high,
                one.nodes_removed, one.nodes_added, one.outputs_agree, one.relative_error, one.reason,
            )
            for one in (*self.rows, self.control)
        ]  # fmt: skip
        floats = dict.fromkeys(("worth", "low", "high", "relative_error"), "float64")
        return pd.DataFrame(rows, columns=columns).astype(floats)

    @property
    def hurts(self) -> tuple[str, ...]:
        """Passes that make this model slower on this machine."""
        return tuple(one.name for one in self.rows if one.effect == "hurts")

    def __str__(self) -> str:
        told = [
            f"{shorten(one.name)} {one.effect} ({_percent(one)})"
            for one in self.rows
            if one.effect in ("helps", "hurts")
        ]
        words = "; ".join(told) or "none changes the time measurably"
        if self.hurts:
            names = ", ".join(map(shorten, self.hurts))
            words += f". Slower here because of {names}: disabled_passes switches them off"
        return f"{counted(len(self.rows), 'pass', 'passes')} switched off alone: {words}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def configs(config: Config, passes: Passes) -> tuple[Config, ...]:
    """The control, and the config without each pass that fired."""
    off = config.disabled_passes
    return (config, *(config.replace(disabled_passes=(*off, name)) for name in passes.names))


def ablation(model_name: str, config: Config, passes: Passes, record: ComparisonRecord) -> AblationRecord:
    """Read the comparison of the config with those of `configs`, in their order."""
    control, *verdicts = record.verdicts
    nothing = _worth("control: the same config again", (), control, record.agreement, None)
    rows = []
    for name, verdict in zip(passes.names, verdicts, strict=True):
        fired = tuple(one for one in passes.fired if one.name == name)
        row = _worth(name, fired, verdict, record.agreement, nothing)
        others = built_on(passes, name)
        if others:
            said = (
                f"{row.reason}; its worth holds that of what works on the nodes it makes: {', '.join(others)}"
            )
            row = replace(row, reason=said)
        rows.append(row)
    rows.sort(key=lambda one: -abs(one.worth or 0.0))
    return AblationRecord(model_name, config, tuple(rows), nothing, record)


def built_on(passes: Passes, name: str) -> tuple[str, ...]:
    """Passes that worked on nodes that this one made: with it off, they may find nothing to do."""
    made: set[str] = set()
    found: dict[str, None] = {}
    for one in passes.fired:
        if one.name == name:
            made.update(one.change.added)
        elif made.intersection((*one.change.removed, *one.change.rewired)):
            found[one.name] = None
    return tuple(found)


def _worth(
    name: str,
    fired: tuple[FiredPass, ...],
    verdict: Verdict,
    agreement: tuple[OutputAgreement, ...],
    control: Worth | None,
) -> Worth:
    outputs = [row for row in agreement if row.label == verdict.label]
    errors = [row.relative_error for row in outputs if row.relative_error is not None]
    worth, low, high = _inverse(verdict.ratio), _inverse(verdict.high), _inverse(verdict.low)
    return Worth(
        name=name,
        levels=tuple(dict.fromkeys(one.level for one in fired)),
        effect=_effect(verdict, worth, control),
        worth=worth,
        low=low,
        high=high,
        nodes_removed=sum(len(one.change.removed) for one in fired),
        nodes_added=sum(len(one.change.added) for one in fired),
        outputs_agree=_agree(outputs),
        relative_error=max(errors, default=None),
        reason=verdict.reason,
    )


def _effect(verdict: Verdict, worth: float | None, control: Worth | None) -> Effect:
    """The verdict is on the config without the pass. What the control shows too is no effect of a pass."""
    if verdict.low is None or verdict.high is None or worth is None:
        return "unknown"
    if verdict.kind == "tie":
        return "no effect"
    beyond = 1 + verdict.smallest_effect
    found: Effect = "unknown"
    if verdict.high < 1 / beyond:
        found = "helps"
    elif verdict.low > beyond:
        found = "hurts"
    noise = (
        max((abs(bound) for bound in (control.low, control.high) if bound is not None), default=0.0)
        if control
        else 0
    )
    return found if abs(worth) > noise else "unknown"


def _agree(outputs: list[OutputAgreement]) -> bool | None:
    said = [row.agrees for row in outputs]
    if not said or None in said:
        return False if False in said else None
    return all(said)


def _inverse(ratio: float | None) -> float | None:
    return None if not ratio else 1 / ratio - 1


def _percent(one: Worth) -> str:
    if one.worth is None or one.low is None or one.high is None:
        return "not known"
    return f"{one.worth * 100:+.1f} %, 95 % CI {one.low * 100:+.1f} to {one.high * 100:+.1f}"
