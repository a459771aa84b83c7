"""The exercises of the lesson on memory and loading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.apps.course.exercise import OverBudget, exercise, outputs_agree
from workbench.apps.course.progress import seconds
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.text import listed, one_line

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison
    from workbench.features.variants.memory_settings import MemorySettings

MOST_TIMES = 1.5  # the latency as asked
_CLOSE = 0.02  # of the lowest peak
WANTED_LOADS = 1.3  # measured: 1.8 under load, 2.1 on a quieter machine; 1.0 without a saved graph
ATTEMPTS = 3
_COSTLY = 0.7  # times as fast: slower beyond noise, settled or not


@exercise("9.a", limit=f"at most {MOST_TIMES:g} times the latency", evidence="memory settings")
def lowest_peak(answer: Any, *, settings: MemorySettings) -> str | None:
    """Check the setting with the lowest peak of those that take at most 1.5 times as long."""
    rows = {row.name: row for row in settings.record.rows}
    if answer not in [*rows]:  # an answer may be of any type
        return f"The answer is none of: {', '.join(rows)}."
    base_s = settings.record.rows[0].latency_s
    fine = {
        name: row.peak_bytes
        for name, row in rows.items()
        if row.peak_bytes is not None
        and row.latency_s is not None
        and (base_s is None or row.latency_s <= MOST_TIMES * base_s)
    }
    if not fine:
        return "No peak was measured here: measure the settings again."
    row = rows[answer]
    if row.peak_bytes is None or row.latency_s is None:
        return f"With {answer} nothing was measured."
    if answer not in fine:
        return OverBudget(f"With {answer} a run takes more than {MOST_TIMES:g} times as long.")
    if fine[answer] <= min(fine.values()) * (1 + _CLOSE):
        return None
    return "Another setting has a lower peak and keeps the latency."


@exercise(
    "9.b",
    answers=Config,
    limit=f"loads at least {WANTED_LOADS:g} times as fast, with runs that are no slower",
)
def faster_load(answer: Config, *, model: Any) -> str | None:
    """Check a config that loads at least 1.3 times as fast, with equal outputs and no slower runs.

    A busy machine disturbs a load, so that a failed check measures again.
    """
    from workbench.features.compare.call import compare

    comparisons: list[Comparison] = []
    for seed in range(ATTEMPTS):
        comparisons.append(
            compare(model, Config(), answer, budget_s=seconds(10), seed=seed, progress=False, keep=False)
        )
        problem = loads_faster(*comparisons)
        if problem is None:
            break
    return problem


def loads_faster(*comparisons: Comparison) -> str | None:
    """Return why a candidate's fastest load is not as much faster as wanted, at no cost, or None."""
    if not all(outputs_agree(comparison, "B") for comparison in comparisons):
        return "The outputs differ from those of the default."
    verdicts = [comparison.verdict for comparison in comparisons]
    ratios = [verdict.ratio for verdict in verdicts if verdict.ratio is not None]
    settled = any(verdict.kind == "slower" for verdict in verdicts)
    if settled or (ratios and max(ratios) < _COSTLY):
        return OverBudget("It may load fast, but its runs are slower: a service pays that in each request.")
    before_s, after_s = (_fastest_load_s(comparisons, place) for place in (0, 1))
    if not before_s or not after_s:
        return "No load time was measured: run the check again."
    if before_s / after_s >= WANTED_LOADS:
        return None
    return OverBudget(f"It loads {before_s / after_s:.2f} times as fast; {WANTED_LOADS:g} times was asked.")


def _fastest_load_s(comparisons: tuple[Comparison, ...], place: int) -> float | None:
    runs = (comparison.runs[place] for comparison in comparisons)
    return min((process.load_s for run in runs for process in run.processes), default=None)


@exercise("9.c")
def valid_warm_up(answer: Any, *, model: Any, sizes: Mapping[str, int]) -> str | None:
    """Check warm-up inputs: every input in its type, of these sizes, and accepted by a run."""
    from workbench.core.models import load
    from workbench.features.measure.call import measure

    if not isinstance(answer, Mapping):
        return "The answer is no dict from the name of an input to an array."
    loaded = load(model)
    expected = loaded.inputs(dims=sizes)
    try:
        given = loaded.inputs(answer)
        shapes = dict(expected.shapes)
        if other := [name for name, shape in given.shapes if shapes[name] != shape]:
            return f"{listed(other)} shall be {listed(shapes[name] for name in other)}, as requests will be."
        measure(loaded, inputs=given, budget_s=seconds(5), progress=False, keep=False)
    except WorkbenchError as error:
        return f"Refused: {one_line(str(error.args[0]), 160)}."
    return None
