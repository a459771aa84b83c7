"""What each config takes beside its latency: peak memory, the time to load, the first run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.chart import Axis, Chart, ChartRow, Value, mebibytes, milliseconds, run_look
from workbench.figures.drawing import chart_figure
from workbench.figures.strips import config_text
from workbench.text import in_mib, in_ms

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.records.comparison import ComparisonRecord

_AXES = (Axis("peak memory (MiB)"), Axis("load (ms)"), Axis("first run (ms)"))


def resources_chart(record: ComparisonRecord) -> Chart:
    """Return a row for each config with a bar on each axis."""
    rows = []
    for index, run in enumerate(record.runs):
        look, peak, config = run_look(index), run.peak_rss_bytes, config_text(record, run)
        absent = "not known" if run.failure is None else "failed"
        memory = Value(mebibytes(peak), in_mib(peak) or absent, look, detail=config)
        times = [
            Value(milliseconds(seconds), in_ms(seconds, 3) or absent, look, detail=config)
            for seconds in (run.load_s, run.first_run_s)
        ]
        rows.append(ChartRow(run.label, ((memory,), *((time,) for time in times))))
    return Chart(("Memory and start of each config",), _AXES, tuple(rows), "", columns=len(_AXES))


def resources_figure(record: ComparisonRecord) -> go.Figure:
    """Draw the chart with plotly."""
    return chart_figure(resources_chart(record))
