"""The lesson on optimization levels: what each step changes, and the exercises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from workbench.apps.course.exercise import exercise, outputs_agree, wrong
from workbench.core.bundle.display import to_table
from workbench.core.bundle.estimate import Estimate
from workbench.core.config import Config
from workbench.core.config.plan import LEVELS
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison
    from workbench.features.explain.result import Explanation
    from workbench.features.variants.levels import LevelRow, Levels

BLOCKED = "nchwc"  # in the domain of the operators that work in the blocked layout
_TIE = 1.02  # within 2 %, twice the smallest effect of a comparison, as in its verdicts


@dataclass(frozen=True, slots=True)
class LevelStep:
    """One step. `times` is how many times as fast it is after the step: 2.0 is twice as fast."""

    before: str
    after: str
    nodes_removed: int | None
    times: Estimate

    @property
    def settled(self) -> bool | None:
        """Whether the interval excludes no difference; None where its ends do not say."""
        low, high = self.times.low, self.times.high
        if (low is not None and low > 1) or (high is not None and high < 1):
            return True
        return None if low is None or high is None else False

    @property
    def bound(self) -> float:
        """Return the times or, of a large effect, the end that is known; 0 where nothing is."""
        return next((end for end in self.times.ends if end), 0.0)

    def sentence(self) -> str:
        """Return the step in words."""
        removed = self.nodes_removed
        nodes = "not known"
        if removed is not None:
            nodes = f"{counted(abs(removed), 'node')} {'more' if removed < 0 else 'fewer'}"
        return f"{self.before} to {self.after}: {nodes}, {self.speed()}"

    def speed(self) -> str:
        """Return the change of speed in words; a difference that is not settled is called so."""
        value, low, high = self.times.ends
        if value is None:
            return f"speed {self.times.factor or 'not known'}"
        if not self.settled:
            if low is not None and high is not None and low >= 1 / _TIE and high <= _TIE:
                return "as fast, within 2 %"
            return f"speed not settled (about {value:.2f} times)"
        if value >= 1:
            return f"{self.times.factor} faster"
        return f"{self.times.falling(lambda end: 1 / end if end else None).factor} slower"


@dataclass(frozen=True, slots=True, repr=False)
class LevelSteps:
    """All steps, and whether nodes and time fall at the same one. Made by `level_steps`."""

    steps: tuple[LevelStep, ...]

    @property
    def most_nodes(self) -> LevelStep | None:
        """The step that removes most nodes; None where none is removed."""
        steps = [step for step in self.steps if (step.nodes_removed or 0) > 0]
        return max(steps, key=lambda step: step.nodes_removed or 0, default=None)

    @property
    def most_speed(self) -> LevelStep | None:
        """The step that gains most, of those whose gain is settled; None where there is none."""
        steps = [step for step in self.steps if step.settled and step.bound > 1]
        return max(steps, key=lambda step: step.bound, default=None)

    @property
    def gains_most_at(self) -> str | None:
        """The level whose step gains most, or "none"; None where no step has an interval."""
        if all(step.settled is None for step in self.steps):
            return None
        return "none" if self.most_speed is None else self.most_speed.after

    def __repr__(self) -> str:
        lines = [step.sentence() for step in self.steps]
        nodes, speed = self.most_nodes, self.most_speed
        if speed is None:
            lines.append("No single step is a settled gain on this machine.")
        elif nodes is None:
            lines.append(f"The largest settled gain comes at {speed.after}, and no step removes nodes.")
        elif nodes.after == speed.after:
            lines.append(f"Most nodes go and most time is gained at the same step: {speed.after}.")
        else:
            lines.append(f"Most nodes go at {nodes.after}, most time is gained at {speed.after}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [(f"{step.before} to {step.after}", step.nodes_removed, step.speed()) for step in self.steps]
        return to_table(("step", "nodes removed", "speed"), rows, str(self).splitlines()[-1])


def level_steps(levels: Levels) -> LevelSteps:
    """Read the steps from a result of `wb.levels`.

    >>> from workbench import course
    >>> str(course.LevelSteps(()))
    'No single step is a settled gain on this machine.'
    """
    return LevelSteps(tuple(_steps(levels.record.rows)))


def _steps(rows: tuple[LevelRow, ...]) -> Iterator[LevelStep]:
    for before, after in pairwise(rows):
        removed = None if before.nodes is None or after.nodes is None else before.nodes - after.nodes
        yield LevelStep(before.name, after.name, removed, _times(before, after))


def _times(before: LevelRow, after: LevelRow) -> Estimate:
    """Return the ratio of a step with the ends that both intervals allow; the baseline is exactly 1.

    It is of the paired ratios, as the intervals are: medians of a machine that slows down for a while are
    of different moments.
    """
    speedup, low, high = (1.0, 1.0, 1.0) if before.verdict is None else before.ratio.ends
    times = after.ratio.value / speedup if after.ratio.value and speedup else None
    least = after.ratio.low / high if after.ratio.low and high else None
    most = after.ratio.high / low if after.ratio.high and low else None
    return Estimate(times, least, most)


@exercise("2.a")
def removing_pass(answer: Any, *, explanation: Explanation, node: str) -> str | None:
    """Check the pass that removed a node against the provenance."""
    changes = explanation.provenance.account.changes
    removing = {change.name for change in changes if node in change.removed}
    if not removing:
        return wrong("2.a", "not removed", node=one_line(node, 80))
    if isinstance(answer, str) and answer in removing:
        return None
    return wrong("2.a", "last" if changes and answer == changes[-1].name else "other")


@exercise("2.b", answers=Config, budget_s=40.0, evidence="comparison")
def fewest_optimizations(answer: Config, *, comparison: Comparison) -> str | None:
    """Check for the lowest level that is no slower than the default, with the same outputs."""
    fast = {verdict.label for verdict in comparison.verdicts if verdict.kind in ("faster", "tie")}
    fine = [run for run in comparison.runs if run.label in fast and outputs_agree(comparison, run.label)]
    ranks: list[str | None] = [*LEVELS, None]  # None: ORT's default
    lowest = min(fine, key=lambda run: ranks.index(run.config.level), default=None)
    if answer == (Config() if lowest is None else lowest.config):
        return None
    if lowest is None:
        return wrong("2.b", "none settled")
    if answer not in [run.config for run in comparison.runs]:
        return wrong("2.b", "not measured", label=lowest.label)
    shown = [comparison.runs[0].config, *(run.config for run in fine)]
    return wrong("2.b", "fewer" if answer in shown else "not as fast", label=lowest.label)


@exercise("2.c", evidence="levels")
def level_of_blocked_layout(answer: Any, *, levels: Levels) -> str | None:
    """Check the first level whose graph holds operators of the blocked layout."""
    rows = levels.record.rows
    right = next((row.name for row in rows if any(BLOCKED in op.casefold() for op, _ in row.ops)), "none")
    return None if answer == right else wrong("2.c", "extended" if answer == "extended" else "other")
