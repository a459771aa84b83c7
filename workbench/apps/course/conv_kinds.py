"""Operations, time and limits of a net by kind of node: depthwise, 1×1, larger convolutions, the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.core.text import in_ms
from workbench.features.base.exportable import Exportable

if TYPE_CHECKING:
    import pandas as pd

    from workbench.drawing.chart import Chart
    from workbench.features.profile.result import Profile
    from workbench.features.profile.roofline.node_limits import NodeLimit
    from workbench.features.profile.roofline.result import Roofline

OTHERS = "no convolution"


@dataclass(frozen=True, slots=True)
class ConvKind:
    """All nodes of one kind. `achieved` is the limit of their time over their time; None: no limit known."""

    name: str
    count: int
    operations: int
    time_s: float
    bound: str | None  # what binds most of their time: "compute" or "memory"
    achieved: float | None


class ConvKinds(Exportable):
    """Kinds of nodes with their shares, the most time first. Made by `conv_kinds`."""

    def __init__(self, kinds: tuple[ConvKind, ...]) -> None:
        self.kinds = kinds

    @property
    def convolution_share(self) -> float | None:
        """The share of all nodes' time that convolutions take."""
        whole_s = sum(kind.time_s for kind in self.kinds)
        return sum(kind.time_s for kind in self.kinds if kind.name != OTHERS) / whole_s if whole_s else None

    def bound(self, name: str) -> str | None:
        """Return what binds a kind: "compute", "memory", or None where it is absent or not known."""
        return next((kind.bound for kind in self.kinds if kind.name == name), None)

    def to_frame(self) -> pd.DataFrame:
        """One row a kind; columns kind, nodes, operations_share, time_share, bound, achieved."""
        import pandas as pd

        rows = [
            (kind.name, kind.count, *self._shares(kind), kind.bound, kind.achieved) for kind in self.kinds
        ]
        columns = ["kind", "nodes", "operations_share", "time_share", "bound", "achieved"]
        return pd.DataFrame(rows, columns=columns)

    def _shares(self, kind: ConvKind) -> tuple[float | None, float | None]:
        operations = sum(other.operations for other in self.kinds)
        time_s = sum(other.time_s for other in self.kinds)
        return kind.operations / operations if operations else None, kind.time_s / time_s if time_s else None

    def __str__(self) -> str:
        sentences = []
        for kind in self.kinds:
            operations, time = self._shares(kind)
            if operations is None or time is None:
                return "No node computed anything."
            bound = f", mostly bound by {kind.bound}" if kind.bound else ""
            sentences.append(
                f"{kind.name} ({kind.count}): {operations:.0%} of the operations, {time:.0%} of the time, "
                f"{in_ms(kind.time_s, 3)}{bound}"
            )
        return "; ".join(sentences) or "No node was profiled."

    def chart(self) -> Chart:
        """Return a row for each kind: its share of the operations beside its share of the time."""
        from workbench.drawing.chart import Axis, Chart, ChartRow, Value, percent, series_look

        looks = series_look(0, "share of the operations"), series_look(1, "share of the time")
        rows = []
        for kind in self.kinds:
            shares = self._shares(kind)
            bars = (
                Value(percent(share), "not known" if share is None else f"{share:.0%}", look)
                for share, look in zip(shares, looks, strict=True)
            )
            rows.append(ChartRow(kind.name, (tuple(bars),)))
        return Chart(("Operations are no time; " + str(self),), (Axis("share of a run (%)"),), tuple(rows))


def conv_kinds(profile: Profile, roofline: Roofline) -> ConvKinds:
    """Group the nodes of a profiled net by kind of convolution.

    >>> from workbench import course
    >>> course.ConvKinds(()).convolution_share is None
    True
    """
    kinds = {} if profile.optimized is None else kinds_of(profile.optimized)
    return grouped(roofline.record.nodes, kinds)


def kinds_of(model: Any) -> dict[str, str]:
    """Return the kind of each convolution of a graph by the node's name."""
    kinds = {}
    for node in model.graph.node:
        if "Conv" in node.op_type:
            attributes = {attribute.name: attribute for attribute in node.attribute}
            sizes = attributes["kernel_shape"].ints if "kernel_shape" in attributes else ()
            kernel = "×".join(map(str, sizes)) or "of unknown size"
            grouped_channels = "group" in attributes and attributes["group"].i > 1
            kinds[node.name] = f"depthwise {kernel}" if grouped_channels else kernel
    return kinds


def grouped(nodes: tuple[NodeLimit, ...], kinds: Mapping[str, str]) -> ConvKinds:
    """Sum the nodes up by kind."""
    groups: dict[str, list[NodeLimit]] = defaultdict(list)
    for node in nodes:
        groups[kinds.get(node.node, OTHERS)].append(node)
    rows = [_summed(name, members) for name, members in groups.items()]
    return ConvKinds(tuple(sorted(rows, key=lambda kind: -kind.time_s)))


def _summed(name: str, nodes: list[NodeLimit]) -> ConvKind:
    bounds: dict[str, float] = defaultdict(float)
    for node in nodes:
        if node.bound is not None:
            bounds[node.bound] += node.time_s
    limited = [node for node in nodes if node.limit_s is not None]
    limited_s = sum(node.time_s for node in limited)
    return ConvKind(
        name,
        len(nodes),
        sum(int((node.flops or 0) * node.calls_per_run) for node in nodes),
        sum(node.time_s for node in nodes),
        max(bounds, key=lambda bound: bounds[bound], default=None),
        sum(node.limit_s or 0.0 for node in limited) / limited_s if limited_s else None,
    )
