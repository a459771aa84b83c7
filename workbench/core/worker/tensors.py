"""Job: run two files with their tensors in view, and sum up how far the tensors of one name are apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from workbench.core.worker.computing import outputs_of
from workbench.core.worker.exposing import roundings, session_of_tensors
from workbench.core.worker.protocol import BEFORE_CAST
from workbench.core.worker.values import read_values

MOST_OF_IT = 0.9  # of the difference: a channel with as much is the one that is wrong
LEAST_CHANNELS, MOST_CHANNELS = 4, 4096


def run(
    first: str, second: str, feeds: list[str], computed: list[list[str] | None], names: list[str] | None
) -> dict[str, Any]:
    """Return the energy of tensors of the first file, that of the difference, and its channel.

    `names` are those to compare; None: all that both compute.
    `computed` has a file for each feed with the tensors that another environment has computed; None: they are
    computed here. A tensor that one file alone quantizes is compared as its next node reads it: ONNX
    Runtime's quantizer removes a Relu whose clipping QuantizeLinear does, and its input has its name.
    """
    graphs = [onnx.load(file, load_external_data=False).graph for file in (first, second)]
    rounded = [roundings(graph.node) for graph in graphs]
    del graphs  # a file of gigabytes may hold its weights
    read_as = [_only_in(*rounded), _only_in(*reversed(rounded))]
    shown = [_tensors(*pair, names) for pair in zip((first, second), feeds, computed, read_as, strict=True)]
    sums: dict[str, _Energies] = {}
    for ours, theirs in zip(*shown, strict=True):
        for name, value in ours.items():
            other = theirs.get(name)
            if other is not None and other.shape == value.shape:  # a blocked layout has another one
                sums.setdefault(name, _Energies()).add(value, other)
    return {"tensors": [energies.to_dict(name) for name, energies in sums.items()]}


def _only_in(ours: dict[str, str | None], theirs: dict[str, str | None]) -> dict[str, str]:
    return {name: rounded for name, rounded in ours.items() if rounded is not None and name not in theirs}


def _tensors(
    file: str, feeds: str, computed: list[str] | None, read_as: dict[str, str], names: list[str] | None
) -> Iterator[dict[str, Any]]:
    """Yield the tensors by name for each feed; `read_as` names those that stand in for others."""
    if computed is None:
        session = session_of_tensors(file, names)
        runs = (outputs_of(session, feed) for feed in read_values(Path(feeds)))
    else:
        runs = (values for path in computed for values in read_values(Path(path)))
    for values in runs:
        stand_ins = {name: values[other] for name, other in read_as.items() if other in values}
        yield {name.removeprefix(BEFORE_CAST): value for name, value in values.items()} | values | stand_ins


class _Energies:
    """The energy of a tensor and of its difference, in all and by channel, over all feeds."""

    def __init__(self) -> None:
        self.signal = self.noise = 0.0
        self._by_channel: dict[int, Any] = {}  # by the axis of the channels

    def add(self, ours: Any, theirs: Any) -> None:
        ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)  # of one tensor at a time
        noise = np.square(theirs - ours)
        self.signal += float(np.square(ours).sum())
        self.noise += float(noise.sum())
        for axis in {1, ours.ndim - 1} if ours.ndim > 1 else ():
            if LEAST_CHANNELS <= ours.shape[axis] <= MOST_CHANNELS:
                sums = noise.sum(axis=tuple(other for other in range(ours.ndim) if other != axis))
                before = self._by_channel.get(axis, 0.0)
                self._by_channel[axis] = before + sums if np.shape(before) in ((), sums.shape) else sums

    def to_dict(self, name: str) -> dict[str, Any]:
        """Return the sums, and the axis and channel that most of the difference lies in."""
        worst = {axis: int(np.argmax(sums)) for axis, sums in self._by_channel.items()}
        ruined = (
            (axis, channel)
            for axis, channel in worst.items()
            if 0 < MOST_OF_IT * self.noise <= self._by_channel[axis][channel]
        )
        axis, channel = next(ruined, (None, None))
        return {"name": name, "signal": self.signal, "noise": self.noise, "axis": axis, "channel": channel}
