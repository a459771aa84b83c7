"""The kinds of record that a bundle can hold. Higher layers pass theirs to `Kinds(makers)`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.bundle.origin import Origin, check_id
from workbench.core.bundle.run import LABEL
from workbench.core.errors import BundleError
from workbench.core.text import quoted

MOST_NAME = 80
MOST_SECONDS = 1e9
OTHER_KIND = "wb.open(path) opens every kind of result; one that it does not know is of a newer workbench."


def anything(_record: object, _fix: str) -> None:
    """Accept any record, if the types of its fields are the only rule."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its class, and the checks beyond the types of its fields."""

    name: str
    cls: type
    check: Callable[[Any, str], None] = anything
    about: Callable[[Any], Origin] | None = None  # None: the record has no origin, so the bundle stores one


class Kinds:
    """Kinds by name, each imported at first use, since not every bundle needs every module."""

    def __init__(self, makers: Mapping[str, Callable[[], Kind]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Kind] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._makers)

    def named(self, name: str) -> Kind:
        """Return the kind called `name` in a file."""
        if name not in self._makers:
            known = ", ".join(self._makers)
            raise BundleError(f"It holds a {quoted(name)}; known: {known}.", OTHER_KIND)
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def of(self, record: object, fix: str) -> Kind:
        """Return the kind of a record."""
        for name in self._makers:
            if type(record) is self.named(name).cls:
                return self.named(name)
        known = ", ".join(self._makers)
        raise BundleError(f"A bundle cannot hold a {type(record).__name__}: only {known}.", fix)

    def about(self, record: object, given: Origin | None) -> Origin:
        """Return the origin of a record: its own, or the given one."""
        own = self.of(record, "Save what the workbench returned.").about
        origin = own(record) if own is not None else given
        if origin is None:
            raise BundleError("A record of this kind needs to be told whose it is.", "Give about=…")
        return origin


@dataclass(frozen=True, slots=True)
class Part:
    """One record beside the main record: `name` is its kind, and after a slash the label of a run."""

    name: str
    record: Any
    about: Origin | None

    @property
    def kind(self) -> str:
        return self.name.partition("/")[0]

    @property
    def label(self) -> str | None:
        return self.name.partition("/")[2] or None


def check_comparison(record: ComparisonRecord, fix: str) -> None:
    """Refuse a record that no comparison could have made."""
    check_measured_runs(record, fix, least=2)


def check_measured_runs(record: ComparisonRecord, fix: str, *, least: int) -> None:
    """Refuse a record that no measurement could have made; every view of a record relies on this check."""
    check_id(record.id, fix)
    labels = [run.label for run in record.runs]
    if len(labels) < least or len(set(labels)) != len(labels):
        count = "two" if least > 1 else "one"
        raise BundleError(f"runs: expected {count} or more runs, each with its own label.", fix)
    if foreign := [label for label in labels if not LABEL.fullmatch(label)]:  # code that is copied names them
        raise BundleError(f"runs: {quoted(foreign[0])} is no label such as A or B.", fix)
    if [verdict.label for verdict in record.verdicts] != labels[1:]:
        raise BundleError("verdicts: expected one for each run after the first, in their order.", fix)
    check_ratios(record.verdicts, fix)
    for run in record.runs:
        if any(not block.samples_s for block in run.blocks):
            raise BundleError(f"Run {quoted(run.label)} has a block without samples.", fix)
        longest = (max(block.samples_s) for block in run.blocks)
        finite = filter(math.isfinite, longest)  # its row refuses any other, and names its place
        check_seconds(finite, f"Run {quoted(run.label)}", fix)
        if any(process.feeds < 1 for process in run.processes):
            raise BundleError(f"Run {quoted(run.label)}: feeds: expected at least one.", fix)
    for at, agreement in enumerate(record.agreement):
        if agreement.label not in labels[1:]:
            raise BundleError(f"agreement[{at}].label: there is no such candidate.", fix)
    for at, doubt in enumerate(record.doubts):
        if doubt.label is not None and doubt.label not in labels:
            raise BundleError(f"doubts[{at}].label: there is no such run.", fix)


def check_ratios(verdicts: Iterable[Verdict], fix: str) -> None:
    """Refuse verdicts whose ratio or interval no two times can have."""
    for at, verdict in enumerate(verdicts):
        for name in ("ratio", "low", "high"):
            value = getattr(verdict, name)
            if value is not None and not 0 < value < math.inf:
                raise BundleError(f"verdicts[{at}].{name}: expected a positive number, got {value}.", fix)


def check_seconds(values: Iterable[float], name: str, fix: str) -> None:
    """Refuse times that nobody waited for; sums of the others stay finite."""
    if not all(0 <= value < MOST_SECONDS for value in values):
        raise BundleError(f"{name}: expected times of 0 to {MOST_SECONDS:g} seconds.", fix)


def check_parts(record: object, parts: tuple[Part, ...], fix: str) -> None:
    """Check that each name is unique and that a part of a run belongs to a run of the main record."""
    names = [part.name for part in parts]
    if len(set(names)) != len(names):
        raise BundleError("parts: expected each name once.", fix)
    labels = {run.label for run in record.runs} if isinstance(record, ComparisonRecord) else None
    for part in parts:
        if not part.name.isprintable() or len(part.name) > MOST_NAME:
            raise BundleError(f"parts: {quoted(part.name)} is no name of a part.", fix)
        if part.label is not None and labels is not None and part.label not in labels:
            raise BundleError(f"parts: {quoted(part.name)} is of a run that is not there.", fix)


def about_comparison(record: ComparisonRecord) -> Origin:
    """Return the origin of a comparison from its own fields."""
    return Origin(
        record.id, record.created_utc, record.model, None, record.inputs, record.machine, record.versions
    )


COMPARISONS = Kinds(
    {"comparison": lambda: Kind("comparison", ComparisonRecord, check_comparison, about_comparison)}
)
