"""From a bundle to the result that it holds, whatever that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench._version import __version__
from workbench.records.bundle import Bundle
from workbench.records.history import History as RecordHistory
from workbench.records.kinds import Part
from workbench.records.upgrades import VERSION
from workbench.results.origin import origin_of
from workbench.results.registry import KINDS


def result_of(bundle: Bundle) -> Any:
    """The result with its methods."""
    result = _OPENERS[bundle.kind](bundle)
    result.foreign_paths = bundle.foreign
    return result


def result_of_part(part: Part) -> Any:
    """A part of a result as a result of its own."""
    from workbench.results.resources import OfRuns

    whose = KINDS.about(part.record, part.about or origin_of(None))
    found = result_of(Bundle(part.record, whose, None, (), part.kind, VERSION, __version__))
    return (
        type(found).of({part.label or "A": part.record}, about=whose) if isinstance(found, OfRuns) else found
    )


class History(RecordHistory):
    """The history file, whose entries open as results with their methods."""

    kinds = KINDS

    def open(self, id_or_prefix: str) -> Any:
        """The result with this id, or with the only id that begins so."""
        return result_of(self.bundle(id_or_prefix))


def _comparison(bundle: Bundle) -> Any:
    from workbench.results.comparison import Comparison

    return Comparison(bundle.record, bundle.structure, parts=bundle.parts)


def _explanation(bundle: Bundle) -> Any:
    from workbench.results.explanation import Explanation

    return _plain(Explanation, bundle)


def _ablation(bundle: Bundle) -> Any:
    from workbench.results.ablation import Ablation

    return _plain(Ablation, bundle)


def _levels(bundle: Bundle) -> Any:
    from workbench.results.levels import Levels

    return _plain(Levels, bundle)


def _profile(bundle: Bundle) -> Any:
    from workbench.results.profile import Profile

    return Profile.reopened(bundle.record, bundle.about)


def _limit(bundle: Bundle) -> Any:
    from workbench.results import resources

    found = {
        "memory": resources.Memory,
        "roofline": resources.Roofline,
        "peaks": resources.Peaks,
        "cold start": resources.ColdStarts,
        "thread scaling": resources.Threads,
        "memory settings": resources.MemorySettings,
    }
    return _plain(found[bundle.kind], bundle)


def _precision(bundle: Bundle) -> Any:
    from workbench.results.accuracy import AccuracyTable
    from workbench.results.layers import LayerErrors, Sensitivity
    from workbench.results.why import WhySlower

    found = {
        "accuracy": AccuracyTable,
        "layer errors": LayerErrors,
        "sensitivity": Sensitivity,
        "why slower": WhySlower,
    }
    return _plain(found[bundle.kind], bundle)


def _plain(cls: Callable[..., Any], bundle: Bundle) -> Any:
    return cls(bundle.record, bundle.about, structure=bundle.structure, parts=bundle.parts)


_OPENERS: dict[str, Callable[[Bundle], Any]] = {
    "comparison": _comparison,
    "explanation": _explanation,
    "ablation": _ablation,
    "levels": _levels,
    "profile": _profile,
    **dict.fromkeys(
        ("memory", "roofline", "peaks", "cold start", "thread scaling", "memory settings"), _limit
    ),
    **dict.fromkeys(("accuracy", "layer errors", "sensitivity", "why slower"), _precision),
}
