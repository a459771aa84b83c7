"""The flame view: one profile, or two on one time scale, as icicles; what is selected is linked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import traitlets as t

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.errors import ProfileError
from workbench.core.text import in_ms, in_time
from workbench.drawing.canvas.base import View
from workbench.drawing.chart_scene import ticks
from workbench.drawing.lettering import broken
from workbench.drawing.palette import TEXT, FillStyle, style_of_op_type
from workbench.drawing.scene import Scene
from workbench.drawing.shapes import Line, Rect, Shape, TextLine, column
from workbench.features.profile.difference.changes import Difference, difference
from workbench.features.profile.difference.matching import in_the_names_of
from workbench.features.profile.difference.traced import Traced
from workbench.features.profile.flame.frames import (
    GAIN,
    GAP,
    LOSS,
    FlamePane,
    FrameKind,
    Frames,
    Picture,
    payload,
)
from workbench.features.profile.flame.pictures import ProfiledRun, heading, pictures, sentence
from workbench.features.profile.session_profile import SessionProfile

WIDTH, MARGIN, ROW, LINE = 900.0, 14.0, 20.0, 18.0
LEAST_WIDTH = 1.2  # pixels of a box that is drawn
NAMED_WIDTH = 34.0
_MOST_ROWS = 9  # of a pane; deeper ones are in the live view
MOST_PANES = 6
_MOST_TICKS = 10
_STRIP = 5.0
PLAIN_OPACITY = 0.16
_PLAIN = (FrameKind.WHOLE, FrameKind.MODULE, FrameKind.RUN, FrameKind.BODY, FrameKind.OTHER)


def flame_scene(picture: Picture, title: str) -> Scene:
    """Draw all panes on one time scale."""
    low, high = _span(picture)
    per_s = (WIDTH - 2 * MARGIN) / ((high - low) or 1.0)
    lines = broken(title, 14, WIDTH - 2 * MARGIN, bold=True, most=4)
    marks: list[Shape] = list(column(lines, MARGIN, MARGIN + LINE, step=LINE, size=14, bold=True))
    y = MARGIN + LINE * (len(lines) + 1)
    marks.append(TextLine(MARGIN, y, f"{picture.title}: {picture.note}", size=12, room=WIDTH - 2 * MARGIN))
    for pane in picture.panes[:MOST_PANES]:
        y += LINE + 8
        marks.append(
            TextLine(MARGIN, y, pane_title(pane, picture), size=12, bold=True, room=WIDTH - 2 * MARGIN)
        )
        y += 6
        marks += _boxes(pane.frames, low, high, per_s, y)
        y += ROW * min(_MOST_ROWS, int(pane.frames.depth.max()) + 1 if len(pane.frames) else 0)
    left_out = len(picture.panes) - MOST_PANES
    if left_out > 0:
        y += LINE
        marks.append(TextLine(MARGIN, y, f"{left_out} more panes are in the live view", size=12))
    y += 10
    marks += _axis(low, high, per_s, y)
    return Scene(WIDTH, y + 34, title, tuple(marks))


def _span(picture: Picture) -> tuple[float, float]:
    if picture.view_s is not None:
        return picture.view_s
    ends = [
        float((pane.frames.start_s + pane.frames.width_s).max()) for pane in picture.panes if len(pane.frames)
    ]
    return 0.0, max(ends, default=0.0)


def pane_title(pane: FlamePane, picture: Picture) -> str:
    """Return the name of a pane, its time or its difference, and its note."""
    frames = pane.frames
    if picture.key == "time":
        return f"{pane.title} ({pane.note})"
    top = frames.depth == 0
    if picture.key == "difference" and pane is picture.panes[-1]:
        return f"{pane.title}: {in_time(float(np.nansum(frames.change_s[top])), signed=True)}, {pane.note}"
    total = float(frames.width_s[top].sum())
    return f"{pane.title}: {in_time(total)}, {pane.note}"


def _boxes(frames: Frames, low: float, high: float, per_s: float, top: float) -> Iterator[Shape]:
    for row, text, kind in frames.rows():
        depth, start = int(frames.depth[row]), float(frames.start_s[row])
        end = min(start + float(frames.width_s[row]), high)
        start = max(start, low)
        width = (end - start) * per_s
        if depth >= _MOST_ROWS or width < LEAST_WIDTH:
            continue
        x, y = MARGIN + (start - low) * per_s, top + depth * ROW
        style = _style(frames, row, kind)
        if style is None:
            yield Rect(x, y, width, ROW - 1, TEXT, PLAIN_OPACITY, TEXT, 0.5)
        else:
            yield Rect(x, y, width, ROW - 1, style.color, 0.9, TEXT, 0.5)
            if style.pattern and width > 2 * _STRIP:
                yield Rect(x, y, _STRIP, ROW - 1, hatch=style.pattern, ink=style.ink)
        if width >= NAMED_WIDTH:
            color = TEXT if style is None else style.ink
            label = text.rpartition("/")[2] or text if kind == FrameKind.NODE else text
            yield TextLine(x + _STRIP + 3, y + ROW - 6, label, 11, color=color, room=width - _STRIP - 6)


def _style(frames: Frames, row: int, kind: FrameKind) -> FillStyle | None:
    if kind == FrameKind.GAP:
        return GAP
    if kind in (FrameKind.GAIN, FrameKind.LOSS):
        return GAIN if kind == FrameKind.GAIN else LOSS
    op = frames.text(int(frames.op[row]))
    return None if kind in _PLAIN or op is None else style_of_op_type(op)


def _axis(low: float, high: float, per_s: float, y: float) -> Iterator[Shape]:
    yield Line(MARGIN, y, WIDTH - MARGIN, y)
    for at in ticks(low, high, _MOST_TICKS) if high > low else (low,):
        x = MARGIN + (at - low) * per_s
        yield Line(x, y, x, y + 5)
        middle = min(max(x, MARGIN + 20), WIDTH - MARGIN - 20)
        yield TextLine(middle, y + 18, str(in_ms(at)), 11, anchor="middle")


Way = Literal["difference", "module", "operator", "time"]


class FlameView(View):
    """Where the time goes. `selected` holds names of nodes, `way` is the picture that is shown."""

    script: ClassVar[str] = "flame"
    own_state: ClassVar[tuple[str, ...]] = ("way", "color")

    way = t.Unicode("module").tag(sync=True)
    color = t.Unicode("operator").tag(sync=True)  # or "provider", "change"

    def __init__(
        self,
        shown: Sequence[ProfiledRun],
        difference: Difference | None = None,
        *,
        way: Way | None = None,
        **traits: Any,
    ) -> None:
        self.shown, self.difference = tuple(shown), difference
        self.pictures = pictures(shown, difference)
        self._sentence = sentence(self.shown, difference)
        header, columns = payload(self.pictures)
        super().__init__(
            {**header, "told": self._sentence, "heading": heading(self.shown, difference)},
            columns,
            way=self.picture_of(way or self.pictures[0].key).key,
            **traits,
        )

    def picture_of(self, way: str) -> Picture:
        """Return the data of a picture."""
        picture = next((picture for picture in self.pictures if picture.key == way), None)
        if picture is None:
            known = ", ".join(picture.key for picture in self.pictures)
            raise ProfileError(f"there is no picture {way!r} of these profiles", f"the ways are: {known}")
        return picture

    def to_frame(self, way: Way | None = None) -> DataFrame:
        """Return the boxes of a picture as a table; of the difference a row for each group of nodes."""
        picture = self.picture_of(way or self.way)
        if picture.key == "difference" and self.difference is not None:
            return self.difference.to_frame()
        rows = [
            (pane.title, frames.depth[row], kind.name.lower(), text, frames.text(frames.op[row]),
             frames.text(frames.provider[row]), " > ".join(frames.path(row)[:-1]), frames.start_s[row],
             frames.width_s[row], frames.own_s[row], frames.calls[row], frames.change_s[row])
            for pane in picture.panes
            for frames in (pane.frames,)
            for row, text, kind in frames.rows()
        ]  # fmt: skip
        columns = ["pane", "depth", "kind", "name", "op_type", "provider", "inside", "start_s", "total_s",
                   "self_s", "calls", "change_s"]  # fmt: skip
        return data_frame(rows, columns=columns)

    def still(self) -> Scene:
        """Draw the current picture with the names of its widest boxes."""
        return flame_scene(self.picture_of(self.way), str(self))

    def __str__(self) -> str:
        return self._sentence


def flame_view(profile: SessionProfile, *, label: str = "", way: Way | None = None) -> FlameView:
    """Show one profile."""
    return FlameView((ProfiledRun(label or "run", profile),), way=way)


def flame_of_two(
    a: SessionProfile,
    b: SessionProfile,
    explained_a: Traced | None = None,
    explained_b: Traced | None = None,
    *,
    known: Difference | None = None,
    labels: tuple[str, str] = ("A", "B"),
    way: Way | None = None,
) -> FlameView:
    """Show A above B; with both explanations or a known difference, also where the milliseconds went."""
    a = a if explained_a is None else in_the_names_of(explained_a, a)
    b = b if explained_b is None else in_the_names_of(explained_b, b)
    if known is None and explained_a is not None and explained_b is not None:
        known = difference(a, b, explained_a, explained_b)
    return FlameView((ProfiledRun(labels[0], a), ProfiledRun(labels[1], b)), known, way=way)
