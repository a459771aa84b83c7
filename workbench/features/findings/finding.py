"""A finding as a rule yields it, with the gain that the rule predicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.core.models.graph import Node
from workbench.features.findings.record import Confidence, FindingRecord, Fix, Gain, Subject
from workbench.features.profile.profiled_config import NodeRun

FindingRecords = Iterator[FindingRecord]  # what a rule yields
MOST_LISTED = 40  # listed in a finding


@dataclass(frozen=True, slots=True)
class Forecast:
    """The predicted gain of a fix, how sure the finding is, and the nodes that it is about."""

    confidence: Confidence
    gain: Gain
    nodes: Iterable[NodeRun | Node | str] = ()  # a string is a name

    @classmethod
    def unknown(
        cls, subject: Subject, confidence: Confidence, nodes: Iterable[NodeRun | Node | str] = ()
    ) -> Forecast:
        """Return a forecast whose gain only a measurement can tell."""
        return cls(confidence, Gain.unknown(subject), nodes)

    @classmethod
    def of_memory(
        cls, size_bytes: int, share: float | None, confidence: Confidence, nodes: Iterable[Node | str] = ()
    ) -> Forecast:
        """Return the forecast of at most this much memory saved, for certain only where the finding is."""
        size = float(size_bytes)
        low = size if confidence == "sure" else 0.0
        return cls(confidence, Gain("memory", size, low, size, share), nodes)


def finding(
    title: str, *reasons: str, forecast: Forecast, fix: Fix, caution: str = "", source: str = ""
) -> FindingRecord:
    """Return the finding of a rule; `AdvisorRule.look` adds its id and what its nodes cost."""
    nodes = tuple(dict.fromkeys(_name_of(node) for node in forecast.nodes))
    return FindingRecord("", title, reasons, nodes, forecast.confidence, forecast.gain, fix, caution, source)


def _name_of(node: NodeRun | Node | str) -> str:
    if isinstance(node, str):
        return node
    return node.node if isinstance(node, NodeRun) else node.key
