"""Latencies as a picture without a browser or plotly: every sample, and percentiles of one config.

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
from workbench.core.errors import WorkbenchError
from workbench.core.text import one_line
from workbench.drawing.chart import Axis, Chart, estimate_value, one_value, run_look
from workbench.drawing.latency_scene import latency_scene
from workbench.drawing.scale import scale_of

if TYPE_CHECKING:
    from workbench.core.measure.measurement import MeasurementRecord

_MOST_REASON = 60


def measurement_chart(record: MeasurementRecord) -> Chart:
    """Return a row for the mean and for each percentile."""
    latencies = record.estimates()[: 1 + len(record.percentiles)]
    scale = scale_of([estimate.value for estimate in latencies])
    rows = (
        one_value(row.name, estimate_value(row, scale, run_look(0), one_line(row.note, _MOST_REASON)))
        for row in latencies
    )
    axis = Axis(f"latency of one run, 95 % interval ({scale.unit})")
    return Chart((record.headline,), (axis,), tuple(rows), record.measured.model.name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the picture; return 2 with the reason on an error."""
    parser = argparse.ArgumentParser(prog="python -m workbench.drawing.still", description=main.__doc__)
    parser.add_argument("bundle", help="an .ortbench file")
    parser.add_argument("-o", "--output", required=True, type=Path, help="the .png or .svg file to write")
    options = parser.parse_args(arguments)
    suffix = options.output.suffix.casefold()
    if suffix not in (".png", ".svg"):
        parser.error(f"{str(options.output)!r} is neither a .png nor a .svg file: give one of these")
    try:
        scene = latency_scene(read_bundle(options.bundle).record)
        write_atomically(options.output, scene.to_png() if suffix == ".png" else scene.to_svg().encode())
    except WorkbenchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
