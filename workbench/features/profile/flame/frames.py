"""Boxes of an icicle as columns: a start, a width in seconds, a row; parents before children."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from math import isnan, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.drawing import palette
from workbench.drawing.canvas.columns import TextTable, pack, style_data
from workbench.drawing.palette import TEXT, FillStyle, style_of_op_type, style_of_provider

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


_MOST_LETTERS = 1000  # of a name: one of a megabyte is cut
MOST_MEMBERS = 500  # names of nodes behind one box
GAP = FillStyle(TEXT, ".")
GAIN, LOSS = FillStyle(palette.GAIN, ""), FillStyle(palette.LOSS, "/")


Whats = dict[tuple[int, ...], int]  # the number of each (name, operator, provider), since many boxes share it


def payload(pictures: Sequence[Picture]) -> tuple[dict[str, Any], bytes]:
    """Return header and columns. Column names begin with the number of their picture."""
    texts = TextTable(_MOST_LETTERS)
    whats: Whats = {}
    columns: dict[str, Any] = {}
    headers = [_picture(number, picture, texts, whats, columns) for number, picture in enumerate(pictures)]
    table, block = pack(columns)
    styles: dict[str, dict[str, Any]] = {
        "op": _styles(texts, {op for _, op, _ in whats}, style_of_op_type),
        "provider": _styles(texts, {provider for _, _, provider in whats}, style_of_provider),
    }
    header = {
        "pictures": headers,
        "whats": list(whats),
        "styles": styles,
        "gap": style_data(GAP),
        "gain": style_data(GAIN),
        "loss": style_data(LOSS),
        "columns": table,
        "texts": texts.all,
    }
    return header, block


def _picture(
    number: int, picture: Picture, texts: TextTable, whats: Whats, columns: dict[str, Any]
) -> dict[str, Any]:
    names = ("what", "up", "shape", "start_d", "width_f", "own_f", "calls_f", "change_f")
    parts: dict[str, list[Any]] = {name: [] for name in names}
    panes: list[dict[str, Any]] = []
    members: dict[str, list[int]] = {}
    first = 0
    for pane in picture.panes:
        frames = pane.frames
        parts["what"].append(_numbered(frames, texts, whats))
        parts["up"].append(np.where(frames.parent == NO_FRAME, 0, frames.parent + 1 + first))
        parts["shape"].append(frames.depth.astype(np.uint32) | (frames.kind.astype(np.uint32) << 8))
        parts["start_d"].append(frames.start_s)
        for name in ("width", "own", "calls", "change"):
            column = getattr(frames, name if name == "calls" else f"{name}_s")
            parts[f"{name}_f"].append(column.astype(np.float32))
        members |= {
            str(first + row): [texts.number(name) for name in names[:MOST_MEMBERS]]
            for row, names in frames.members.items()
        }
        panes.append({"title": pane.title, "note": pane.note, "first": first, "count": len(frames)})
        first += len(frames)
    for name, pieces in parts.items():
        whole = np.concatenate(pieces) if pieces else np.array([])
        if name in ("calls_f", "change_f") and np.isnan(whole).all():
            continue
        columns[f"{number}_{name}"] = whole
    view = None if picture.view_s is None or any(map(isnan, picture.view_s)) else picture.view_s
    return {
        "key": picture.key,
        "title": picture.title,
        "note": picture.note,
        "view": view,
        "panes": panes,
        "members": members,
    }


def _numbered(frames: Frames, texts: TextTable, whats: Whats) -> np.ndarray[Any, Any]:
    """Return the number in `whats` for each box; add what is new."""
    codes = np.array([texts.number(text) for text in frames.texts] + [NO_FRAME], np.int64)
    rows = np.stack([codes[frames.name], codes[frames.op], codes[frames.provider]], axis=1)
    distinct, back = np.unique(rows, axis=0, return_inverse=True)
    numbers = [whats.setdefault(tuple(row), len(whats)) for row in distinct.tolist()]
    return np.array(numbers, np.uint32)[back.reshape(-1)]


def _styles(texts: TextTable, numbers: set[int], style_of: Callable[[str], FillStyle]) -> dict[str, Any]:
    return {str(number): style_data(style_of(texts.all[number])) for number in sorted(numbers - {NO_FRAME})}
