"""The tensors of two configs that could be joined, and how far they are apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.bundle.display import frame_of
from workbench.core.errors import BundleError
from workbench.core.text import counted, share_of, shorten
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    ReferenceLine,
    Value,
    percent,
    rows_left_out,
    series_look,
)

if TYPE_CHECKING:
    import pandas as pd

    from workbench.features.explain.graph_view.pane import TensorErrors

_MOST_ROWS = 30  # of the figure
_BEFORE = 3  # rows of the figure before the first difference
_ROUNDING = 1e-6  # of a tensor's values; below it, errors are those of sums in another order
_JUMP = 30.0  # times the largest error before: such an error is made, not passed on
MOST_ERROR = 1e6  # of a tensor that is 0 in A


@dataclass(frozen=True, slots=True)
class TensorDifference:
    """One tensor that both configs compute under one name."""

    tensor: str
    node: str  # that makes it in the source graph
    op_type: str
    error: float | None  # the energy of the difference over that of A's values, as a root; None: B has NaN
    axis: int | None = None  # of the channels; None: no single channel is wrong
    channel: int | None = None  # in which most of the difference lies

    @property
    def place(self) -> str:
        """Return the tensor and the node that makes it, in words."""
        channel = "" if self.channel is None else f"channel {self.channel} of axis {self.axis} of "
        return f"{channel}{shorten(self.tensor)} of {self.op_type} {shorten(self.node)}"


def differs(row: TensorDifference, tolerance: float) -> bool:
    """Return whether a tensor of B is further from A's than is tolerated."""
    return row.error is None or row.error > tolerance


def jump_of(rows: Iterable[TensorDifference], tolerance: float) -> TensorDifference | None:
    """Return the tensor where the error jumps most, up to the first difference. None: it grows step by step.

    A rounding may stay below the tolerance where it happens and grow beyond it many nodes later.
    """
    largest, jump, origin = _ROUNDING, _JUMP, None
    for row in rows:
        error = MOST_ERROR if row.error is None else row.error
        if error >= jump * largest:
            jump, origin = error / largest, row
        largest = max(largest, error)
        if differs(row, tolerance):
            break
    return origin


@dataclass(frozen=True, slots=True)
class FirstDifferenceRecord:
    """The tensors that could be joined, in the order of the source graph."""

    model_name: str
    configs: tuple[str, str]
    tolerance: float
    tensors: tuple[TensorDifference, ...]
    node_count: int  # of the source graph
    culprit: (
        str | None
    )  # the pass without which the outputs agree; None: none was found, or none was looked for
    notes: tuple[str, ...]

    @property
    def beyond(self) -> tuple[TensorDifference, ...]:
        """Return the tensors that differ by more than the tolerance, the first one first."""
        return tuple(row for row in self.tensors if differs(row, self.tolerance))

    @property
    def origin(self) -> TensorDifference | None:
        """Return where the first difference comes from; None: the error grows step by step."""
        return jump_of(self.tensors, self.tolerance)

    @property
    def tensor_errors(self) -> TensorErrors:
        """The errors, as a graph is coloured by them."""
        from workbench.features.explain.graph_view.pane import TensorErrors

        return TensorErrors({row.tensor: row.error for row in self.tensors}, self.tolerance)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per tensor: tensor, node, op_type, error, axis, channel, beyond."""
        frame = frame_of(self.tensors, ("tensor", "node", "op_type", "error", "axis", "channel"))
        frame["beyond"] = [row in self.beyond for row in self.tensors]
        return frame

    def __str__(self) -> str:
        joined = f"{counted(len(self.tensors), 'tensor')} of {counted(self.node_count, 'node')} compared"
        origin = self.origin
        if not self.beyond:
            errors = [(tensor.error, tensor.tensor) for tensor in self.tensors if tensor.error]
            error, name = max(errors, default=(0.0, ""))
            most = (
                f"; the largest error is {share_of(error, 'the tensor')}, of {shorten(name)}" if name else ""
            )
            most += "" if origin is None else f"; it jumps to {_words(origin)} at {origin.place}"
            return f"{self.model_name}: no tensor differs by more than {self.tolerance:.2g}{most}; {joined}"
        first = self.beyond[0]
        by = (
            "NaN or infinity is born"
            if first.error is None
            else f"error {share_of(first.error, 'the tensor')}"
        )
        if origin not in (None, first):
            by += f"; it comes from {origin.place}, where the error jumps to {_words(origin)}"
        culprit = f"; without the pass {shorten(self.culprit)} the outputs agree" if self.culprit else ""
        return f"{self.model_name}: the first difference is {first.place}: {by}{culprit}; {joined}"


def check_first_difference(record: FirstDifferenceRecord, fix: str) -> None:
    """Refuse a tolerance that is none."""
    if not 0 < record.tolerance < MOST_ERROR:
        raise BundleError(f"tolerance: expected a share above 0, got {record.tolerance}.", fix)


def first_difference_chart(record: FirstDifferenceRecord) -> Chart:
    """Return a row for each tensor along the graph, from just before the first difference on."""
    start = (
        record.tensors.index(record.origin or (record.beyond or record.tensors)[0]) if record.tensors else 0
    )
    shown = record.tensors[max(0, start - _BEFORE) :][:_MOST_ROWS]
    rows = [
        ChartRow(
            row.tensor,
            ((Value(percent(row.error), _words(row), series_look(0), detail=f"{row.op_type} {row.node}"),),),
        )
        for row in shown
    ]
    lines = (ReferenceLine(record.tolerance * 100, "tolerance"),)
    note = rows_left_out(len(record.tensors), len(shown), "tensors")
    return Chart((str(record),), (Axis("error along the graph (%)", lines=lines),), tuple(rows), note)


def _words(row: TensorDifference) -> str:
    return "NaN or infinity" if row.error is None else share_of(row.error, "the tensor")
