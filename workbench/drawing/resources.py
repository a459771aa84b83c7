"""What each config takes beside its latency: memory, load, first run."""

from __future__ import annotations

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.drawing.chart import Axis, Chart, one_value, run_look, size_value, time_value
from workbench.drawing.strips import config_text


def resources_chart(record: ComparisonRecord) -> Chart:
    """Return a row for each config with a bar on each axis."""
    rows = []
    for index, run in enumerate(record.runs):
        look, config = run_look(index), config_text(record, run)
        absent = "not known" if run.failure is None else "failed"
        times = (
            time_value(seconds, look, absent, digits=3, detail=config)
            for seconds in (run.load_s, run.first_run_s)
        )
        rows.append(one_value(run.label, size_value(run.peak_rss_bytes, look, absent, detail=config), *times))
    axes = (Axis("peak memory (MiB)"), Axis("load (ms)"), Axis("first run (ms)"))
    return Chart(("Memory and start of each config",), axes, tuple(rows), columns=3)
