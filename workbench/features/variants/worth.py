"""The worth of each pass: a comparison in which each is disabled alone, beside an A/A control."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any, Literal

from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.kinds import about_comparison
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.feature import Feature
from workbench.core.measure.limits import ShowProgress
from workbench.core.models import Model, load
from workbench.core.prepare.replayed import replayed
from workbench.core.text import counted, one_line, shorten
from workbench.drawing.chart import Axis, Chart, Look, ReferenceLine, Value, one_value, value_of
from workbench.drawing.palette import GAIN, LOSS, TEXT
from workbench.features.base.measured import Measured
from workbench.features.base.running import Feeds, kept
from workbench.features.compare.call import compare
from workbench.features.explain.explanation import explain
from workbench.features.explain.passes.fired import FiredPass, Passes
from workbench.features.variants.variant import ComparedRecord, Variant, check_compared

Effect = Literal["helps", "hurts", "no effect", "unknown"]
_MOST_LETTERS = 120  # of names in the note
_EFFECTS = {
    "helps": Look(GAIN, "", "circle", "helps"),
    "hurts": Look(LOSS, "/", "diamond", "hurts"),
    "no effect": Look(TEXT, "", "square", "no effect"),
}


@dataclass(frozen=True, slots=True)
class Worth(Variant):
    """One pass disabled alone."""

    levels: tuple[int, ...]
    effect: Effect
    nodes_removed: int
    nodes_added: int
    relative_error: float | None  # the largest of any output; None: not comparable, or not compared

    @property
    def share(self) -> Estimate:
        """Return the share by which a run takes longer without the pass: 0.3 is 30 %."""
        return Estimate(self.ratio.known, self.ratio.low, self.ratio.high).falling(
            lambda ratio: 1 / ratio - 1 if ratio else None
        )

    @property
    def worth(self) -> float | None:
        """Return that share without its interval."""
        return self.share.value

    @property
    def level_names(self) -> str:
        """Return the levels as one text."""
        return ", ".join(map(str, self.levels))


@dataclass(frozen=True, slots=True)
class WorthRecord(ComparedRecord):
    """All passes that fired, and the control: the same config twice, whose worth should be 0."""

    columns = (
        "pass=name levels=level_names effect worth low=share.low high=share.high nodes_removed nodes_added"
        " outputs_agree relative_error reason"
    )

    rows: tuple[Worth, ...]
    config: Config
    control: Worth

    def to_frame(self) -> DataFrame:
        """Return one row per pass, and the control last; shares of time, not percent."""
        return ComparedRecord.to_frame(replace(self, rows=(*self.rows, self.control)))

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
            names, off = ", ".join(map(shorten, self.hurts)), "it" if len(self.hurts) == 1 else "them"
            text += f". Slower here because of {names}: disabled_passes switches {off} off"
        return f"{counted(len(self.rows), 'pass', 'passes')} disabled alone: {text}"


def pass_configs(config: Config, passes: Passes) -> tuple[Config, ...]:
    """Return the control, and the config without each pass that fired; refuse where none is known."""
    if not passes.are_known:
        raise ConfigError(
            f"there is nothing to switch off one by one: {passes.problem}",
            "name an environment with ONNX Runtime 1.25 or newer as runtime; wb.levels compares the levels "
            "of this one",
        )
    disabled = config.disabled_passes
    return (config, *(config.replace(disabled_passes=(*disabled, name)) for name in passes.names))


def worth_of(model_name: str, config: Config, passes: Passes, record: ComparisonRecord) -> WorthRecord:
    """Read the comparison of the config with those of `pass_configs`, in their order."""
    _, same_again, *runs = record.runs
    control = _worth("control: the same config again", (), same_again, record, None)
    rows = []
    for name, run in zip(passes.names, runs, strict=True):
        fired = tuple(step for step in passes.fired if step.name == name)
        row = _worth(name, fired, run, record, control)
        others = built_on(passes, name)
        if others:
            more = f"includes the worth of passes on the nodes that it makes: {', '.join(others)}"
            row = replace(row, reason=f"{row.reason}; {more}")
        rows.append(row)
    rows.sort(key=lambda row: -abs(row.worth or 0.0))
    return WorthRecord(model_name, tuple(rows), record, config, control)


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
    name: str, fired: tuple[FiredPass, ...], run: Run, record: ComparisonRecord, control: Worth | None
) -> Worth:
    outputs = [row for row in record.agreement if row.label == run.label]
    errors = [row.relative_error for row in outputs if row.relative_error is not None]
    verdict = next(verdict for verdict in record.verdicts if verdict.label == run.label)
    row = Worth.of(
        name, run, record,
        levels=tuple(dict.fromkeys(step.level for step in fired)),
        effect="unknown",
        nodes_removed=sum(len(step.change.removed) for step in fired),
        nodes_added=sum(len(step.change.added) for step in fired),
        relative_error=max(errors, default=None),
    )  # fmt: skip
    return replace(row, effect=effect_of(verdict, row.share, control))


def effect_of(verdict: Verdict, share: Estimate, control: Worth | None) -> Effect:
    """Return the effect of a pass from the verdict on the config without it, if it exceeds the control's."""
    if share.value is None or (verdict.low is None and verdict.high is None):
        return "unknown"
    if verdict.kind == "tie":
        return "no effect"
    noise = max(abs(end or 0.0) for end in (control.share.low, control.share.high)) if control else 0.0
    if abs(share.value) <= noise:
        return "unknown"
    beyond = 1 + verdict.smallest_effect
    if verdict.high is not None and verdict.high < 1 / beyond:
        return "helps"
    return "hurts" if verdict.low is not None and verdict.low > beyond else "unknown"


def _percent(row: Worth, confidence: str) -> str:
    value, low, high = row.share.ends
    if value is None or low is None or high is None:
        return _bound(row.share) or "not known"
    return f"{value * 100:+.1f} %, {confidence} CI {low * 100:+.1f} to {high * 100:+.1f}"


def _bound(share: Estimate) -> str:
    """Return the end that a large effect has, in words; empty where both or none are known."""
    if share.low is None and share.high is not None:
        return f"at most {share.high * 100:+.0f} %"
    return f"at least {share.low * 100:+.0f} %" if share.high is None and share.low is not None else ""


def worth_chart(record: WorthRecord) -> Chart:
    """Return a dot with its interval for each pass; right of zero the pass helps. The control is last."""
    rows = []
    for row in (*record.rows, record.control):
        look = _EFFECTS.get(row.effect, Look(TEXT, "", "circle", row.effect, hollow=True))
        known = _bound(row.share)
        text = f"{known}, {row.effect}" if known else "not measured" if row.worth is None else "not settled"
        value = Value(None, text, look, detail=row.reason or "")
        if row.worth is not None and row.share.is_closed:
            text = f"{row.worth * 100:+.1f} %, {row.effect}"
            value = value_of(row.share.times(100), text, look)
        rows.append(one_value(row.name, value))
    note = "each pass was disabled alone; the control is the same config measured twice"
    if record.hurts:
        names = one_line(", ".join(record.hurts), _MOST_LETTERS)
        note = f"these passes make the model slower here: {names}; {note}"
    confidence = record.comparison.verdict.confidence_text
    axis = Axis(f"slower without the pass, {confidence} interval (%)", "dot", (ReferenceLine(0.0),))
    return Chart((f"{record.model_name}: what each pass is worth here",), (axis,), tuple(rows), note)


class Ablation(Measured):
    """What each pass is worth on this machine. Made by `wb.ablate`."""

    record: WorthRecord
    title = "what each pass is worth"


def ablate(
    model: Model | Any,
    config: Config | None = None,
    budget_s: float | None = None,
    *,
    inputs: Feeds = None,
    smallest_effect: float = 0.01,
    calibration: Any = None,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    keep: bool = True,
) -> Ablation:
    """Turn off each pass that fired, alone, in one interleaved comparison with an A/A control."""
    loaded, chosen, calibration = load(model), config or Config(), replayed(calibration)
    passes = explain(loaded, chosen, passes=True, calibration=calibration, cancel=cancel).passes
    comparison = compare(
        loaded, chosen, *pass_configs(chosen, passes), inputs=inputs, budget_s=budget_s,
        smallest_effect=smallest_effect, calibration=calibration, progress=progress, cancel=cancel,
        keep=False,
    )  # fmt: skip
    return kept(Ablation(worth_of(loaded.name, chosen, passes, comparison.record)), keep)


FEATURE = Feature(
    "ablation",
    WorthRecord,
    check_compared,
    lambda record: about_comparison(record.comparison),
    result=Ablation,
    chart=worth_chart,
    call="workbench.features.variants.worth:ablate",
    fact="worth",
    says_stopped=True,
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    heading="What each pass is worth",
    button="Ablate",
    hint="Turn off each pass that fired, alone, and measure what it is worth; for the config shown",
    step="which passes fire",
    question="Worth of each pass?",
    effort=(25.0, 40, 800),
    tabs=("What ORT did",),
)
