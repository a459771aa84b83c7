"""The worth of each pass: a comparison in which each is disabled alone, beside an A/A control."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Literal

from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement, Verdict
from workbench.core.bundle.display import frame_of
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.text import counted, shorten
from workbench.features.explain.passes.fired import FiredPass, Passes

if TYPE_CHECKING:
    import pandas as pd

Effect = Literal["helps", "hurts", "no effect", "unknown"]


@dataclass(frozen=True, slots=True)
class Worth:
    """One pass disabled alone. `worth` is the share by which a run takes longer without it: 0.3 is 30 %."""

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
    """All passes that fired, and the control: the same config twice, whose worth should be 0."""

    model_name: str
    config: Config
    rows: tuple[Worth, ...]
    control: Worth
    comparison: ComparisonRecord

    def to_frame(self) -> pd.DataFrame:
        """One row per pass, and the control last; shares of time, not percent."""
        rows = (*self.rows, self.control)
        names = [name for name in Worth.__dataclass_fields__ if name != "levels"]
        frame = frame_of(rows, names, ("worth", "low", "high", "relative_error"), {"name": "pass"})
        frame.insert(1, "levels", [", ".join(map(str, row.levels)) for row in rows])
        return frame

    @property
    def hurts(self) -> tuple[str, ...]:
        """Passes that make this model slower on this machine."""
        return tuple(row.name for row in self.rows if row.effect == "hurts")

    def __str__(self) -> str:
        effects = [
            f"{shorten(row.name)} {row.effect} ({_percent(row, self.comparison.verdict.confidence_text)})"
            for row in self.rows
            if row.effect in ("helps", "hurts")
        ]
        text = "; ".join(effects) or "none changes the time measurably"
        if self.hurts:
            names = ", ".join(map(shorten, self.hurts))
            text += f". Slower here because of {names}: disabled_passes switches them off"
        return f"{counted(len(self.rows), 'pass', 'passes')} disabled alone: {text}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def configs(config: Config, passes: Passes) -> tuple[Config, ...]:
    """Return the control, and the config without each pass that fired; refuse where none is known."""
    if not passes.are_known:
        raise ConfigError(
            f"there is nothing to switch off one by one: {passes.problem}",
            "name an environment with ONNX Runtime 1.25 or newer as runtime; wb.levels compares the levels "
            "of this one",
        )
    disabled = config.disabled_passes
    return (config, *(config.replace(disabled_passes=(*disabled, name)) for name in passes.names))


def ablation(model_name: str, config: Config, passes: Passes, record: ComparisonRecord) -> AblationRecord:
    """Read the comparison of the config with those of `configs`, in their order."""
    control, *verdicts = record.verdicts
    same = _worth("control: the same config again", (), control, record.agreement, None)
    rows = []
    for name, verdict in zip(passes.names, verdicts, strict=True):
        fired = tuple(step for step in passes.fired if step.name == name)
        row = _worth(name, fired, verdict, record.agreement, same)
        others = built_on(passes, name)
        if others:
            more = f"includes the worth of passes on the nodes that it makes: {', '.join(others)}"
            row = replace(row, reason=f"{row.reason}; {more}")
        rows.append(row)
    rows.sort(key=lambda row: -abs(row.worth or 0.0))
    return AblationRecord(model_name, config, tuple(rows), same, record)


def built_on(passes: Passes, name: str) -> tuple[str, ...]:
    """Return the passes that changed nodes made by this one: without it they may not fire."""
    made: set[str] = set()
    others: dict[str, None] = {}
    for fired in passes.fired:
        if fired.name == name:
            made.update(fired.change.added)
        elif made.intersection((*fired.change.removed, *fired.change.rewired)):
            others[fired.name] = None
    return tuple(others)


def _worth(
    name: str,
    fired: tuple[FiredPass, ...],
    verdict: Verdict,
    agreement: tuple[OutputAgreement, ...],
    control: Worth | None,
) -> Worth:
    outputs = [row for row in agreement if row.label == verdict.label]
    errors = [row.relative_error for row in outputs if row.relative_error is not None]
    worth, low, high = _inverse(verdict.bound), _inverse(verdict.high), _inverse(verdict.low)
    return Worth(
        name=name,
        levels=tuple(dict.fromkeys(step.level for step in fired)),
        effect=_effect(verdict, worth, control),
        worth=worth,
        low=low,
        high=high,
        nodes_removed=sum(len(step.change.removed) for step in fired),
        nodes_added=sum(len(step.change.added) for step in fired),
        outputs_agree=_agree(outputs),
        relative_error=max(errors, default=None),
        reason=verdict.reason,
    )


def _effect(verdict: Verdict, worth: float | None, control: Worth | None) -> Effect:
    """Return the effect of a pass from the verdict on the config without it, if it exceeds the control's."""
    if verdict.low is None or verdict.high is None or worth is None:
        return "unknown"
    if verdict.kind == "tie":
        return "no effect"
    noise = max(abs(bound or 0.0) for bound in (control.low, control.high)) if control else 0.0
    if abs(worth) <= noise:
        return "unknown"
    beyond = 1 + verdict.smallest_effect
    if verdict.high < 1 / beyond:
        return "helps"
    return "hurts" if verdict.low > beyond else "unknown"


def _agree(outputs: list[OutputAgreement]) -> bool | None:
    agree = {row.agrees for row in outputs}
    return False if False in agree else True if agree == {True} else None


def _inverse(ratio: float | None) -> float | None:
    return None if not ratio else 1 / ratio - 1


def _percent(row: Worth, confidence: str) -> str:
    if row.worth is None or row.low is None or row.high is None:
        return "not known"
    return f"{row.worth * 100:+.1f} %, {confidence} CI {row.low * 100:+.1f} to {row.high * 100:+.1f}"
