"""Boxes of an icicle as columns: a start, a width in seconds, a row; parents before children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from math import nan

import numpy as np
import numpy.typing as npt

NO_FRAME = -1


class FrameKind(IntEnum):
    """The meaning of a box. flame.js uses the same numbers."""

    WHOLE = 0  # a run, the mean of all
    MODULE = 1
    NODE = 2
    OPERATOR = 3
    KERNEL = 4  # of a device, beside the nodes
    GAP = 5  # time that no node takes
    RUN = 6  # one of several
    BODY = 7  # one iteration of a subgraph
    OTHER = 8
    GAIN = 9
    LOSS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """A row for each box. `op` and `provider` are texts like `name`; NONE: not known. NaN: absent."""

    texts: tuple[str, ...]
    name: npt.NDArray[np.int32]
    op: npt.NDArray[np.int32]
    provider: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    depth: npt.NDArray[np.uint8]
    kind: npt.NDArray[np.uint8]
    start_s: npt.NDArray[np.float64]
    width_s: npt.NDArray[np.float64]
    own_s: npt.NDArray[np.float32]  # without what lies below it
    calls: npt.NDArray[np.float32]  # a run
    change_s: npt.NDArray[np.float32]  # of the group of nodes that it is matched with, B less A
    members: dict[int, tuple[str, ...]] = field(default_factory=dict)  # nodes behind a box that is no node

    def __len__(self) -> int:
        return len(self.name)

    def rows(self) -> Iterator[tuple[int, str, FrameKind]]:
        """Yield each box with its text and kind."""
        for row in range(len(self)):
            yield row, self.texts[self.name[row]], FrameKind(self.kind[row])

    def path(self, row: int) -> tuple[str, ...]:
        """Return the texts from the outermost box to this box."""
        names: list[str] = []
        while row != NO_FRAME:
            names.append(self.texts[self.name[row]])
            row = int(self.parent[row])
        return tuple(reversed(names))

    def text(self, code: int) -> str | None:
        return None if code == NO_FRAME else self.texts[code]


@dataclass(frozen=True, slots=True, eq=False)
class FlamePane:
    """Frames under a title, all on one time scale with the other panes of a picture."""

    title: str  # "A", "A, thread 1"
    note: str
    frames: Frames


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """Panes from top to bottom, the initial range of time, and an explanation."""

    key: str
    title: str
    note: str
    panes: tuple[FlamePane, ...]
    view_s: tuple[float, float] | None = None  # what is shown at first; None: everything


class Boxes:
    """Collect boxes, and return their columns at the end."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._rows: list[tuple[int, int, int, int, int, int, float, float, float, float, float]] = []
        self._members: dict[int, tuple[str, ...]] = {}

    def add(
        self,
        name: str,
        kind: FrameKind,
        start_s: float,
        width_s: float,
        *,
        parent: int = NO_FRAME,
        depth: int = 0,
        op: str | None = None,
        provider: str | None = None,
        own_s: float = nan,
        calls: float = nan,
        change_s: float = nan,
        members: Sequence[str] = (),
    ) -> int:
        """Add a box and return its row."""
        if members:
            self._members[len(self._rows)] = tuple(members)
        self._rows.append(
            (self._code(name), self._code(op), self._code(provider), parent, min(depth, 255), kind,
             start_s, width_s, own_s, calls, change_s)
        )  # fmt: skip
        return len(self._rows) - 1

    def frames(self) -> Frames:
        columns = list(zip(*self._rows, strict=True)) or [()] * 11
        name, op, provider, parent = (np.array(column, np.int32) for column in columns[:4])
        depth, kind = (np.array(column, np.uint8) for column in columns[4:6])
        start, width = (np.array(column, np.float64) for column in columns[6:8])
        own, calls, change = (np.array(column, np.float32) for column in columns[8:])
        return Frames(
            tuple(self._codes), name, op, provider, parent, depth, kind, start, width, own, calls, change,
            self._members,
        )  # fmt: skip

    def _code(self, text: str | None) -> int:
        return NO_FRAME if text is None else self._codes.setdefault(text, len(self._codes))
