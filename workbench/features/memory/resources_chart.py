"""Memory, and what each config takes beside its latency: peaks, totals, load, first run."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    one_value,
    run_look,
    size_value,
    time_value,
)
from workbench.drawing.strips import config_text
from workbench.features.memory.by_node import MemoryRecord

_TOTALS = (
    ("weights", "weights_bytes"),
    ("activations alive at once", "peak_live_bytes"),
    ("in use in the arena, peak", "arena_peak_bytes"),
    ("held by the arena", "arena_held_bytes"),
)


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


def memory_chart(by_label: Mapping[str, MemoryRecord]) -> Chart:
    """Return a row for each total, with a bar for each run."""
    rows = []
    for name, field in _TOTALS:
        bars = (
            size_value(getattr(memory, field), run_look(index, label))
            for index, (label, memory) in enumerate(by_label.items())
        )
        rows.append(ChartRow(name, (tuple(bars),)))
    return Chart(("Memory of a run",), (Axis("memory (MiB)"),), tuple(rows))
