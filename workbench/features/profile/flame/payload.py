"""Pictures in the browser's format: texts and styles once, boxes as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any

import numpy as np

from workbench.drawing import palette
from workbench.drawing.canvas.columns import TextTable, pack, style_data
from workbench.drawing.palette import TEXT, FillStyle, style_of_op_type, style_of_provider
from workbench.features.profile.flame.frames import NO_FRAME, Frames, Picture

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
