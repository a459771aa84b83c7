"""A picture without a browser or plotly: medians with their intervals and the verdict, as a scene.

`python -m workbench.figures.still BUNDLE -o FILE.png` makes one of a saved comparison; also as .svg.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.figures.lettering import broken
from workbench.figures.palette import TEXT, style_of_run
from workbench.figures.scale import Scale
from workbench.figures.scene import Scene
from workbench.figures.shapes import Line, Mark, Rect, Text
from workbench.figures.strips import Strip, latency_data
from workbench.records.atomic import write_atomically
from workbench.records.bundle import read_bundle
from workbench.records.comparison import ComparisonRecord
from workbench.text import one_line

WIDTH, MARGIN = 760, 16
ROOM = WIDTH - 2 * MARGIN
BAR_END = 540  # bars grow from the margin to here; the figures stand behind them
LINE, BAR = 19, 20
MOST_TITLE = 600


def latency_scene(record: ComparisonRecord) -> Scene:
    """One bar from zero a run, with the interval of its median at the end; grey text reads on any ground."""
    data = latency_data(record, most=0)
    marks: list[Mark] = []
    y = float(MARGIN)
    for sentence in data.title:
        head, _, rest = sentence.partition("; ")
        for text, bold in ((head, True), (rest, False)):
            for line in broken(text, 14, ROOM, bold=bold) if text else ():
                y += LINE
                marks.append(Text(MARGIN, y, line, 14, bold, room=ROOM))
    y += LINE
    model = f"{one_line(data.model, 60)}: median latency of one run, 95 % interval"
    marks.append(Text(MARGIN, y, model, room=ROOM))
    ends_s = [one.high or one.value or 0.0 for one in (row.median for row in data.rows)]
    per_s = (BAR_END - MARGIN) / (max(ends_s, default=0.0) or 1.0)
    for index, row in enumerate(data.rows):
        y += 10
        for line in broken(_caption(row), 12, ROOM, most=2):
            y += LINE
            marks.append(Text(MARGIN, y, line, room=ROOM))
        marks += _bar(row, index, y + 6, per_s, data.scale)
        y += BAR + 6
    return Scene(WIDTH, y + MARGIN, one_line(" ".join(data.title), MOST_TITLE), tuple(marks))


def latency_svg(record: ComparisonRecord) -> str:
    """The same as SVG."""
    return latency_scene(record).to_svg()


def _caption(row: Strip) -> str:
    told = [one_line(f"{row.label} {row.text}")]
    if row.all_aside:
        told.append("all samples were disturbed by other work")
    if row.failure is not None and row.median.value is not None:
        told.append(one_line(row.failure, 60))
    return "; ".join(told)


def _bar(row: Strip, index: int, y: float, per_s: float, scale: Scale) -> Iterator[Mark]:
    median, middle, style = row.median, y + BAR / 2, style_of_run(index)
    if median.value is None:
        why = row.failure or f"no median: {median.note}"
        yield Text(MARGIN, middle + 5, why, 14, bold=True, room=ROOM)
        return
    yield Rect(MARGIN, y, median.value * per_s, BAR, style.color, 0.55, style.color, hatch=style.pattern)
    told = scale.text(median.value)
    if median.low is not None and median.high is not None:
        low, high = (MARGIN + value_s * per_s for value_s in (median.low, median.high))
        for end in (low, high):
            yield Line(end, y + 4, end, y + BAR - 4, TEXT, 2)
        yield Line(low, middle, high, middle, TEXT, 2)
        told += f" ({scale.number(median.low)} to {scale.number(median.high)})"
    yield Text(BAR_END + 12, middle + 5, told, 14, room=WIDTH - MARGIN - BAR_END - 12)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the picture; 2 where that cannot be done, with the reason."""
    parser = argparse.ArgumentParser(prog="python -m workbench.figures.still", description=main.__doc__)
    parser.add_argument("bundle", help="an .ortbench file")
    parser.add_argument("-o", "--output", required=True, type=Path, help="the .png or .svg file to write")
    given = parser.parse_args(arguments)
    try:
        scene = latency_scene(read_bundle(given.bundle).record)
        png = given.output.suffix.casefold() == ".png"
        write_atomically(given.output, scene.to_png() if png else scene.to_svg().encode())
    except WorkbenchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
