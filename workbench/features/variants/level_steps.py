"""The optimization levels one after the other: what each step changes in nodes and speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.core.bundle.display import to_table
from workbench.core.bundle.estimate import Estimate
from workbench.core.text import counted
from workbench.features.variants.variant import Variant

_TIE = 1.02  # within 2 %, twice the smallest effect of a comparison, as in its verdicts


@dataclass(frozen=True, slots=True)
class LevelRow(Variant):
    """One level, with the graph that it leaves. Its base is the level "disabled"."""

    nodes: int | None
    ops: tuple[tuple[str, int], ...]
    providers: tuple[str, ...]

    @property
    def op_types(self) -> int:
        """Return the number of types of operators."""
        return len(self.ops)

    @property
    def provider_names(self) -> str:
        """Return the providers as one text."""
        return ", ".join(self.providers)


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
    """All steps, and whether nodes and time fall at the same one."""

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
        return "\n".join([*(step.sentence() for step in self.steps), self._conclusion()])

    def _conclusion(self) -> str:
        nodes, speed = self.most_nodes, self.most_speed
        if speed is None:
            return "No single step is a settled gain on this machine."
        if nodes is None:
            return f"The largest settled gain comes at {speed.after}, and no step removes nodes."
        if nodes.after == speed.after:
            return f"Most nodes go and most time is gained at the same step: {speed.after}."
        return f"Most nodes go at {nodes.after}, most time is gained at {speed.after}."

    def _repr_html_(self) -> str:
        rows = [(f"{step.before} to {step.after}", step.nodes_removed, step.speed()) for step in self.steps]
        return to_table(("step", "nodes removed", "speed"), rows, self._conclusion())


def steps_of(rows: Sequence[LevelRow]) -> LevelSteps:
    """Read the steps from the rows of all levels, the lowest first."""
    steps = []
    for before, after in pairwise(rows):
        removed = None if before.nodes is None or after.nodes is None else before.nodes - after.nodes
        steps.append(LevelStep(before.name, after.name, removed, _times(before, after)))
    return LevelSteps(tuple(steps))


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
