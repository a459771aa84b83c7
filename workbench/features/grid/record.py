"""A grid: configs at several places, each place a model at certain sizes; all configs of a place compared."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.core.bundle.comparison import ComparisonRecord, Kind, Verdict, verdict_cells
from workbench.core.bundle.display import DataFrame, data_frame, typed
from workbench.core.bundle.kinds import check_measured_runs
from workbench.core.bundle.run import Run, labels_of
from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.core.measure.gates import FINE, OPEN, Gate, of_comparison, was_measured
from workbench.core.measure.pairs import pairs_of
from workbench.core.measure.percentiles import Figure, percentiles, throughput
from workbench.core.measure.verdict import Criteria
from workbench.core.measure.wording import speed_in_words
from workbench.core.models.sizes import is_batch
from workbench.core.text import in_ms, one_line, shorten

Standing = Literal["clear", "tie", "not settled", "not measured"]


@dataclass(frozen=True, slots=True)
class Winner:
    """The fastest config whose outputs agree; `rivals` tie with it, or are not settled against it."""

    label: str | None
    standing: Standing
    rivals: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.standing == "clear":
            return f"{self.label} wins"
        if self.standing == "tie":
            return f"{', '.join(sorted((self.label or '', *self.rivals)))} tie"
        return self.standing


def winner_of(record: ComparisonRecord | None) -> Winner:
    """Return the fastest config of a comparison, judged against every other one on the same rounds."""
    if record is None:
        return Winner(None, "not measured")
    differing = {verdict.label for verdict in record.verdicts if verdict.kind == "outputs differ"}
    runs = [run for run in record.runs if is_measured(run) and run.label not in differing]
    if not runs:
        return Winner(None, "not measured")
    gains = {run.label: _gain(record, run) for run in runs}
    leader = max(runs, key=lambda run: gains[run.label])
    kinds = _kinds(record, leader, runs)
    if ahead := [run for run in runs if kinds.get(run.label) == "faster"]:
        leader = ahead[0]  # ranked by the least that its large effect has
        kinds = _kinds(record, leader, runs)
    opened = tuple(label for label, kind in kinds.items() if kind in ("unknown", "faster"))
    if opened:
        return Winner(leader.label, "not settled", opened)
    ties = tuple(label for label, kind in kinds.items() if kind == "tie")
    return Winner(leader.label, "tie" if ties else "clear", ties)


def _kinds(record: ComparisonRecord, leader: Run, runs: Sequence[Run]) -> dict[str, Kind]:
    """Return the kind of the verdict on each other config against the leader."""
    return {run.label: kind_between(record, leader.label, run.label) for run in runs if run is not leader}


def kind_between(record: ComparisonRecord, baseline: str, label: str) -> Kind:
    """Return the verdict's kind on a config against any other one of the comparison, by the same rule."""
    verdicts = {verdict.label: verdict.kind for verdict in record.verdicts}
    first = record.runs[0].label
    if baseline == first:
        return verdicts[label]
    if label == first:
        opposite: dict[Kind, Kind] = {"faster": "slower", "slower": "faster"}
        return opposite.get(verdicts[baseline], verdicts[baseline])
    runs = {run.label: run for run in record.runs}
    criteria = criteria_of(record)
    return criteria.kind(criteria.ratios(pairs_of(runs[baseline], runs[label], criteria.clock)))


def criteria_of(record: ComparisonRecord) -> Criteria:
    """Return the criteria by which a comparison was judged."""
    clock = record.verdicts[0].clock if record.verdicts else "wall"
    return Criteria(record.protocol.smallest_effect, record.runs[0].population, clock)


def is_measured(run: Run) -> bool:
    """Return whether a run has samples and did not fail."""
    return run.failure is None and bool(run.blocks)


def _gain(record: ComparisonRecord, run: Run) -> float:
    """Return the log of the baseline's time over the run's; without a verdict the run is last."""
    if run.label == record.runs[0].label:
        return 0.0
    ratio = next(verdict.bound for verdict in record.verdicts if verdict.label == run.label)
    return -math.inf if ratio is None else math.log(ratio)


@dataclass(frozen=True, slots=True)
class GridAxis:
    """One size or one knob with several values, in words."""

    name: str
    kind: Literal["size", "knob"]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One config at one value of each knob: a run of every place."""

    config: str  # the config that was given, in words
    knobs: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Return the config and its knobs in words."""
        return ", ".join([self.config, *(f"{shorten(name)} {value}" for name, value in self.knobs)])


@dataclass(frozen=True, slots=True)
class Place:
    """A model at some sizes, and what was measured there; None: nothing, for the reason in `problem`."""

    model: str  # untrusted
    sha256: str | None  # None: the file could not be read
    sizes: tuple[tuple[str, int], ...]
    measured: ComparisonRecord | None
    problem: str | None

    @property
    def items(self) -> int:
        """Return the items of one run: the batch."""
        return math.prod(size for name, size in self.sizes if is_batch(name))

    @property
    def size(self) -> str:
        """Return the sizes in words."""
        return size_text(self.sizes)


@dataclass(frozen=True, slots=True)
class Cell:
    """One config at one place. `run` is None if it was not measured, for the reason in `problem`."""

    place: Place
    series: Series
    label: str
    run: Run | None
    verdict: Verdict | None  # None: the first config, the only one, or nothing was measured
    problem: str | None
    wins: bool

    def latency(self, percent: float = 50.0) -> Figure:
        """Return a percentile of the latency, by default the median."""
        if self.run is None:
            return Figure(name=f"p{percent:g}", note=self.problem or "")
        (estimate,) = percentiles(self.run, (percent,))
        return estimate

    def rate(self) -> Figure:
        """Return the items a second of consecutive runs."""
        if self.run is None:
            return Figure(name="throughput", note=self.problem or "")
        return throughput(self.run).times(self.place.items)

    def latency_cells(self) -> dict[str, float | None]:
        """Return the cells of the median and of the 99th percentile in milliseconds."""
        p99 = self.latency(99.0).times(1e3)
        return {**self.latency().times(1e3).cells("median", "_ms"), "p99_ms": p99.value}

    @property
    def is_wrong(self) -> bool:
        """Return whether the outputs differ from those of the first config."""
        return self.verdict is not None and self.verdict.kind == "outputs differ"

    def verdict_cells(self) -> dict[str, object]:
        """Return the cells of the verdict; wrong outputs have no speed-up."""
        lost = ("ratio", "low", "high") if self.is_wrong else ()
        return {**verdict_cells(self.verdict), **dict.fromkeys(lost)}

    @property
    def text(self) -> str:
        """Return what the cell says: a latency, a verdict, or why there is none."""
        if self.problem is not None:
            return one_line(self.problem)
        if self.verdict is None:
            return in_ms(None if self.run is None else self.run.latency.median_s) or "not measured"
        kind = "not settled" if self.verdict.kind == "unknown" else self.verdict.kind
        return speed_in_words(self.verdict) or kind


@dataclass(frozen=True, slots=True)
class GridRecord:
    """Configs at every place. Those of a place are measured together: one a series, A the baseline."""

    axes: tuple[GridAxis, ...]
    configs: tuple[Config, ...]  # one a series
    series: tuple[Series, ...]  # what each config is, in their order
    places: tuple[Place, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the label of each config."""
        return labels_of(len(self.series))

    def name_of(self, place: Place) -> str:
        """Return what distinguishes a place from the others."""
        return place.size

    def cells(self, place: Place) -> tuple[Cell, ...]:
        """Return the cells of a place; a config that failed has no verdict."""
        measured, winner = place.measured, winner_of(place.measured)
        runs = {} if measured is None else {run.label: run for run in measured.runs}
        verdicts = {} if measured is None else {verdict.label: verdict for verdict in measured.verdicts}
        cells = []
        for label, series in zip(self.labels, self.series, strict=True):
            run, problem = runs.get(label), place.problem
            if run is not None and run.failure is not None:
                problem = f"{run.failure.stage}: {run.failure.problem}"
            run = run if run is not None and run.processes else None
            verdict = verdicts.get(label) if problem is None else None
            wins = winner == Winner(label, "clear") and len(self.series) > 1
            cells.append(Cell(place, series, label, run, verdict, problem, wins))
        return tuple(cells)

    def all_cells(self) -> Iterator[Cell]:
        """Yield every config at every place."""
        for place in self.places:
            yield from self.cells(place)

    def winners(self) -> tuple[tuple[Place, Winner], ...]:
        """Return who wins at each place; nothing where there is one config alone."""
        if len(self.series) < 2:
            return ()
        return tuple((place, winner_of(place.measured)) for place in self.places)


def size_text(sizes: tuple[tuple[str, int], ...]) -> str:
    """Return sizes in words."""
    return ", ".join(f"{shorten(name)} {size}" for name, size in sizes) or "the default sizes"


def grid_frame(rows: Sequence[Mapping[str, object]]) -> DataFrame:
    """Return the table of these rows."""
    return typed(data_frame(rows))


def check_grid(record: GridRecord, fix: str) -> None:
    """Refuse a record that no measurement of a grid could have made."""
    axes = tuple(axis.name for axis in record.axes if axis.kind == "size")
    if not record.places or not record.series or len(record.configs) != len(record.series):
        raise BundleError("places, series and configs: expected one or more of each.", fix)
    if len({axis.name for axis in record.axes}) != len(record.axes):
        raise BundleError("axes: expected each name once.", fix)
    for at, place in enumerate(record.places):
        if tuple(name for name, _ in place.sizes) != axes or any(size < 1 for _, size in place.sizes):
            raise BundleError(f"places[{at}].sizes: expected a size of each axis, from 1 up.", fix)
        if place.measured is not None:
            check_measured_runs(place.measured, fix, least=1)
            if tuple(run.label for run in place.measured.runs) != record.labels:
                names = ", ".join(map(shorten, record.labels[:3]))
                raise BundleError(f"places[{at}].measured.runs: expected the runs {names}….", fix)


def gates_of_grid(record: GridRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield the checks of each size, or of each model."""
    for place in record.places:
        yield from _gates_of_place(record.name_of(place), place, fail_if)


def _gates_of_place(name: str, place: Place, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield the checks of one comparison, or of one config alone."""
    measured = place.measured
    if measured is None:
        yield Gate(name, OPEN, f"not measured: {one_line(place.problem or '')}")
    elif len(measured.runs) < 2:
        latency = in_ms(measured.runs[0].latency.median_s)
        code = FINE if was_measured(measured, measured.runs[0].label) else OPEN
        yield Gate(name, code, f"median {latency or 'not measured'}")
    else:
        for check in of_comparison(measured, fail_if):
            yield Gate(f"{name}: {check.name}", check.code, check.text)
