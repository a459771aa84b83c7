"""Latencies as a picture without a browser or plotly: medians of configs, percentiles of one config.

`python -m workbench.drawing.still BUNDLE -o FILE.png` draws a saved comparison; also as .svg.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.bundle.atomic import write_atomically
from workbench.core.bundle.bundle import read_bundle
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.errors import WorkbenchError
from workbench.core.text import one_line
from workbench.drawing.chart import Axis, Chart, estimate_value, one_value, run_look
from workbench.drawing.chart_scene import chart_scene
from workbench.drawing.scale import scale_of
from workbench.drawing.strips import Strip, latency_data

if TYPE_CHECKING:
    from workbench.core.measure.measurement import MeasurementRecord

MOST_REASON = 60


def latency_chart(record: ComparisonRecord) -> Chart:
    """Return a row for each run: its median with the interval."""
    data = latency_data(record, most=0)
    axis = Axis(f"median latency of one run, 95 % interval ({data.scale.unit})")
    rows = []
    for index, row in enumerate(data.rows):
        absent = row.failure or f"no median: {row.median.note}"
        rows.append(one_value(_label(row), estimate_value(row.median, data.scale, run_look(index), absent)))
    return Chart(data.title, (axis,), tuple(rows), data.model)


def measurement_chart(record: MeasurementRecord) -> Chart:
    """Return a row for the mean and for each percentile."""
    latencies = record.estimates()[: 1 + len(record.percentiles)]
    scale = scale_of([estimate.value for estimate in latencies])
    rows = (
        one_value(row.name, estimate_value(row, scale, run_look(0), one_line(row.note, MOST_REASON)))
        for row in latencies
    )
    axis = Axis(f"latency of one run, 95 % interval ({scale.unit})")
    return Chart((record.headline,), (axis,), tuple(rows), record.measured.model.name)


def _label(row: Strip) -> str:
    parts = [f"{row.label} {row.text}"]
    if row.all_aside:
        parts.append("all samples were disturbed by other work")
    if row.failure is not None and row.median.value is not None:
        parts.append(one_line(row.failure, MOST_REASON))
    return "; ".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the picture; return 2 with the reason on an error."""
    parser = argparse.ArgumentParser(prog="python -m workbench.drawing.still", description=main.__doc__)
    parser.add_argument("bundle", help="an .ortbench file")
    parser.add_argument("-o", "--output", required=True, type=Path, help="the .png or .svg file to write")
    options = parser.parse_args(arguments)
    try:
        scene = chart_scene(latency_chart(read_bundle(options.bundle).record))
        png = options.output.suffix.casefold() == ".png"
        write_atomically(options.output, scene.to_png() if png else scene.to_svg().encode())
    except WorkbenchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
