"""A picture without a browser or plotly: medians with their intervals and the verdict, as SVG.

`python -m workbench.figures.still BUNDLE -o FILE.svg` makes one of a saved comparison.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.figures.palette import TEXT, style_of_run
from workbench.figures.scale import Scale
from workbench.figures.strips import Strip, latency_data
from workbench.figures.words import lines, one_line
from workbench.records.atomic import write_atomically
from workbench.records.bundle import read_bundle
from workbench.records.comparison import ComparisonRecord

WIDTH, MARGIN = 760, 16
BAR_END = 520  # bars grow from the margin to here; the figures stand behind them
LINE, BAR = 19, 20
COLUMNS = 96
MOST_TITLE = 600


def latency_svg(record: ComparisonRecord) -> str:
    """One bar from zero a run, with the interval of its median at the end; grey text reads on any ground."""
    data = latency_data(record, most=0)
    parts, y = [], MARGIN
    for sentence in data.title:
        head, _, rest = sentence.partition("; ")
        for text, bold in ((head, True), (rest, False)):
            for line in lines(text, COLUMNS, MOST_TITLE):
                y += LINE
                parts.append(_text(MARGIN, y, line, bold=bold))
    y += LINE
    parts.append(
        _text(MARGIN, y, f"{one_line(data.model)}: median latency of one run, 95 % interval", small=True)
    )
    ends_s = [one.high or one.value or 0.0 for one in (row.median for row in data.rows)]
    per_s = (BAR_END - MARGIN) / (max(ends_s, default=0.0) or 1.0)
    for index, row in enumerate(data.rows):
        y += LINE + 10
        parts.append(_text(MARGIN, y, _caption(row), small=True))
        parts += _bar(row, style_of_run(index).color, y + 6, per_s, data.scale)
        y += BAR + 6
    height = y + MARGIN
    title = one_line(" ".join(data.title), MOST_TITLE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" font-family="sans-serif" font-size="14" fill="{TEXT}">\n'
        f"<title>{escape(title)}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _caption(row: Strip) -> str:
    told = [one_line(f"{row.label} {row.text}", COLUMNS)]
    if row.all_aside:
        told.append("all samples were disturbed by other work")
    if row.failure is not None and row.median.value is not None:
        told.append(one_line(row.failure, COLUMNS // 2))
    return "; ".join(told)


def _bar(row: Strip, color: str, y: float, per_s: float, scale: Scale) -> Iterable[str]:
    median, middle = row.median, y + BAR / 2
    if median.value is None:
        why = row.failure or f"no median: {median.note}"
        yield _text(MARGIN, middle + 5, one_line(why, COLUMNS), bold=True)
        return
    yield (
        f'<rect x="{MARGIN}" y="{y}" width="{median.value * per_s:.1f}" height="{BAR}" '
        f'fill="{color}" fill-opacity="0.55" stroke="{color}"/>'
    )
    told = scale.text(median.value)
    if median.low is not None and median.high is not None:
        low, high = (MARGIN + value_s * per_s for value_s in (median.low, median.high))
        whisker = (
            f"M{low:.1f} {y + 4}V{y + BAR - 4}M{high:.1f} {y + 4}V{y + BAR - 4}M{low:.1f} {middle}H{high:.1f}"
        )
        yield f'<path d="{whisker}" stroke="{TEXT}" stroke-width="2" fill="none"/>'
        told += f" ({scale.number(median.low)} to {scale.number(median.high)})"
    yield _text(BAR_END + 12, middle + 5, told)


def _text(x: float, y: float, text: str, *, bold: bool = False, small: bool = False) -> str:
    style = ' font-weight="bold"' if bold else ' font-size="12"' if small else ""
    return f'<text x="{x}" y="{y}"{style}>{escape(text)}</text>'


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the picture; 2 where that cannot be done, with the reason."""
    parser = argparse.ArgumentParser(prog="python -m workbench.figures.still", description=main.__doc__)
    parser.add_argument("bundle", help="an .ortbench file")
    parser.add_argument("-o", "--output", required=True, type=Path, help="the .svg file to write")
    given = parser.parse_args(arguments)
    try:
        write_atomically(given.output, latency_svg(read_bundle(given.bundle).record).encode())
    except WorkbenchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
