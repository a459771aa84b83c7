"""Memory, and what each config takes beside its latency: peaks, totals, memory settings, load, first run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.core.text import factor, in_ms
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Value,
    milliseconds,
    one_value,
    run_look,
    series_look,
    size_value,
    time_value,
)
from workbench.drawing.strips import config_text

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord
    from workbench.features.memory.by_node import MemoryRecord
    from workbench.features.variants.memory_settings import MemorySetting, MemorySettingsRecord

_TOTALS = (
    ("weights", "weights_bytes"),
    ("activations alive at once", "peak_live_bytes"),
    ("in use in the arena, peak", "arena_peak_bytes"),
    ("held by the arena", "arena_held_bytes"),
)
_SIZES = (
    (series_look(0, "peak"), "peak_bytes"),
    (series_look(1, "after loading"), "loaded_bytes"),
    (series_look(2, "held by the arena"), "arena_held_bytes"),
)
_LATENCY = series_look(3, "latency")


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


def memory_settings_chart(record: MemorySettingsRecord) -> Chart:
    """Return a row for each setting: three sizes at the left, the latency at the right."""
    axes = (Axis("memory above the imported library (MiB)"), Axis("median latency (ms)"))
    return Chart((str(record),), axes, tuple(_setting(row) for row in record.rows), columns=2)


def _setting(row: MemorySetting) -> ChartRow:
    bars = tuple(size_value(getattr(row, field), look) for look, field in _SIZES)
    latency = Value(milliseconds(row.latency_s), _latency(row), _LATENCY, detail=row.verdict or "")
    return ChartRow(row.name, (bars, (latency,)))


def _latency(row: MemorySetting) -> str:
    if row.latency_s is None:
        return row.failure or "not measured"
    if row.verdict is None:
        return f"{in_ms(row.latency_s)}, baseline"
    ratio = (
        f" {factor(row.ratio, row.low, row.high)}"
        if row.ratio is not None and row.verdict in ("faster", "slower")
        else ""
    )
    return f"{in_ms(row.latency_s)}, {row.verdict}{ratio}"
