"""Memory and latency with each memory setting toggled, beside the config as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.chart import Axis, Chart, ChartRow, Value, milliseconds, series_look, size_value
from workbench.text import in_ms

if TYPE_CHECKING:
    from workbench.analysis.memory.settings import MemorySetting, MemorySettingsRecord

_SIZES = (
    (series_look(0, "peak"), "peak_bytes"),
    (series_look(1, "after loading"), "loaded_bytes"),
    (series_look(2, "held by the arena"), "arena_held_bytes"),
)
_LATENCY = series_look(3, "latency")


def memory_settings_chart(record: MemorySettingsRecord) -> Chart:
    """Return a row for each setting: three sizes at the left, the latency at the right."""
    axes = (Axis("memory above the imported library (MiB)"), Axis("median latency (ms)"))
    return Chart((str(record),), axes, tuple(_row(row) for row in record.rows), columns=2)


def _row(row: MemorySetting) -> ChartRow:
    bars = tuple(size_value(getattr(row, field), look) for look, field in _SIZES)
    latency = Value(milliseconds(row.latency_s), _latency(row), _LATENCY, detail=row.verdict or "")
    return ChartRow(row.name, (bars, (latency,)))


def _latency(row: MemorySetting) -> str:
    if row.latency_s is None:
        return row.failure or "not measured"
    if row.verdict is None:
        return f"{in_ms(row.latency_s)}, baseline"
    ratio = f" {row.ratio:.2f}×" if row.ratio is not None and row.verdict in ("faster", "slower") else ""
    return f"{in_ms(row.latency_s)}, {row.verdict}{ratio}"
