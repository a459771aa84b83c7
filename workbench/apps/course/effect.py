"""The effect that a lesson is about: whether it is here, beside a recorded run that has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import workbench as wb
from sample_models import FOLDER
from workbench.apps.course.equal_configs import EqualConfigs, equal_configs
from workbench.core.bundle.estimate import Estimate
from workbench.core.errors import ConfigError
from workbench.core.text import counted, did_you_mean, listed, one_line
from workbench.drawing.chart import percent
from workbench.drawing.exportable import DrawnTable, dots

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import Verdict

RECORDED = FOLDER / "recorded" / "lessons"  # a bundle for each effect, made by the lesson's own call
MUCH_SLOWER, HARDLY_SLOWER = 1.2, 1.05  # times, where a record has no intervals
PERCENT = "%"


@dataclass(frozen=True, slots=True)
class Size(Estimate):
    """How large an effect is. `present` is None where the interval allows both."""

    present: bool | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """A sentence that a result supports or not, and how its size is read."""

    sentence: str
    read: Callable[[Any], Size]
    axis: str
    unit: str = ""  # empty: the words of the axis
    none: float = 1.0  # the size of no effect

    def words(self, size: Size) -> str:
        """Return a size with its interval."""
        if size.value is None:
            return size.factor or "not measured"
        return size.words(".1f" if self.unit == PERCENT else ".2f", f" {self.unit or self.axis}")


class SeenEffect(DrawnTable):
    """An effect on this machine beside the recorded run that has it. Made by `effect`."""

    def __init__(self, effect: Effect, here: Size, run: Any) -> None:
        self.present, self.run = here.present, run  # the run: the whole recorded result
        recorded, machine, date = effect.read(run), run.about.machine, run.about.created_utc[:10]
        where = f"{machine.cpu} with {counted(machine.usable_cores, 'core')}, {date}" if machine else date
        start = {True: "Seen here", False: "Not seen here", None: "Not settled here"}[here.present]
        lines = (
            f"{start}: {effect.sentence}; {effect.words(here)}.",
            f"The recorded run has it; {effect.words(recorded)}, on {where}.",
        )
        sizes = {"here": here, "recorded": recorded}
        drawn = ((where, where, size, effect.words(size)) for where, size in sizes.items())
        chart = dots(lines, effect.axis, drawn, effect.none)
        numbers = ("size", "low", "high")
        rows = ((where, *astuple(size)) for where, size in sizes.items())
        super().__init__("\n".join(lines), chart, ("where", *numbers, "present"), rows, numbers)


def effect(name: str, result: Any) -> SeenEffect:
    """Say whether an effect is in a result of this machine, and set a recorded run beside it that has it.

    >>> from workbench import course
    >>> course.effect("noise", course.equal_configs()).present is None
    True
    """
    if name not in EFFECTS:
        raise ConfigError(
            f"the course has no effect {one_line(str(name), 60)!r}",
            f"{did_you_mean(name, EFFECTS)}Name one of {listed(EFFECTS, None)}",
        )
    return SeenEffect(EFFECTS[name], EFFECTS[name].read(result), wb.open(RECORDED / f"{name}.ortbench"))


def _noise(result: EqualConfigs | wb.Comparison) -> Size:
    equal = result if isinstance(result, EqualConfigs) else equal_configs(result)
    present = equal.notable > 0 if equal.naive else None
    return Size(percent(equal.largest_difference), None, None, present)


def _layout(levels: wb.Levels) -> Size:
    steps = [step for step in levels.steps().steps if step.after == "layout"]
    return _beyond_one(*steps[0].times.ends) if steps else Size()


def _costly_fusion(passes: wb.Ablation) -> Size:
    rows = [row for row in passes.record.rows if row.worth is not None]
    hurting = [row for row in rows if row.effect == "hurts"]
    worst = min(hurting or rows, key=lambda row: row.worth or 0.0, default=None)
    if worst is None:
        return Size()
    settled = all(row.effect != "unknown" for row in rows)
    present = True if hurting else False if settled else None
    value, low, high = map(percent, worst.share.ends)
    return Size(value, low, high, present)


def _threads(threads: wb.Threads) -> Size:
    latency_s = threads.record.latency_by_threads()
    if len(latency_s) < 2:
        return Size()
    times = latency_s[max(latency_s)] / min(latency_s.values())
    present = True if times >= MUCH_SLOWER else False if times <= HARDLY_SLOWER else None
    return Size(times, None, None, present)


def _saved_graph(starts: Any) -> Size:
    before_s = [process.load_s for process in starts.record.as_asked]
    after_s = [process.load_s for process in starts.record.saved_ahead]
    if not before_s or not after_s:
        return Size()
    low, high = min(before_s) / max(after_s), max(before_s) / min(after_s)
    return _beyond_one(median(before_s) / median(after_s), low, high)


def _proven(study: wb.Study) -> Size:
    record, verdict = study.record, study.record.verdict
    if record.winner == record.candidates[0].label:
        return Size(1.0, None, None, False)
    return Size() if verdict is None else _verdict("faster")(verdict)


def _verdict(*kinds: str) -> Callable[[wb.Comparison | Verdict], Size]:
    """Return how the first verdict of a comparison is read: the effect is there with one of these kinds."""

    def read(result: Any) -> Size:
        verdict = getattr(result, "verdict", result)
        settled = verdict.kind in ("faster", "slower", "tie")
        present = verdict.kind in kinds if settled else None
        return Size(verdict.ratio, verdict.low, verdict.high, present)

    return read


def _beyond_one(value: float | None, low: float | None, high: float | None) -> Size:
    present = True if low is not None and low > 1 else False if high is not None and high < 1 else None
    return Size(value, low, high, present)


FAST, LONG = "times as fast", "times as long"
SINGLE_RUNS = "largest difference of two single runs (%)"
WORST_PASS = "what the worst pass is worth (% of the time)"
EFFECTS = {
    "noise": Effect("two runs of the same config differ by more than 2 %", _noise, SINGLE_RUNS, PERCENT, 0.0),
    "blocked-layout": Effect("the step to level layout makes the net faster", _layout, FAST),
    "costly-fusion": Effect("a fusion costs time", _costly_fusion, WORST_PASS, PERCENT, 0.0),
    "wider-is-faster": Effect("the wider net is faster", _verdict("faster"), FAST),
    "too-many-threads": Effect("the most threads are slower than the best count", _threads, LONG),
    "fewer-nodes": Effect("a fifth of the nodes, and no faster", _verdict("tie", "slower"), FAST),
    "dynamic-int8": Effect("dynamic int8 makes the convolutional net slower", _verdict("slower"), FAST),
    "saved-graph": Effect("a graph that was optimized ahead loads faster", _saved_graph, FAST),
    "proven-config": Effect("fresh rounds prove a config that beats the defaults", _proven, FAST),
}
OF_KIND = {  # what is read from a result of each kind, whatever its lesson
    "comparison": Effect("B is faster", _verdict("faster"), "times as fast as A"),
    "levels": EFFECTS["blocked-layout"],
    "ablation": EFFECTS["costly-fusion"],
    "thread scaling": EFFECTS["too-many-threads"],
    "study": EFFECTS["proven-config"],
}
