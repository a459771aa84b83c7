"""The worth of memory pattern, arena and prepacking: latency and memory of each from one comparison."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.errors import BundleError, Cancelled
from workbench.core.feature import Feature
from workbench.core.measure.limits import ShowProgress
from workbench.core.models import Model
from workbench.core.prepare.runnable import make_runnable
from workbench.core.text import in_mib, in_ms
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, milliseconds, series_look, size_value
from workbench.features.base.measured import Stoppable
from workbench.features.base.running import Feeds, opened_with
from workbench.features.compare.call import compare
from workbench.features.profile.calls import profile
from workbench.features.profile.memory.by_node import MEMORY_BUDGET_S, memory_of
from workbench.features.profile.trace import SIGNED
from workbench.features.variants.variant import Variant, VariantsRecord

SETTINGS_BUDGET_S = 20.0
PREPACKING = "session.disable_prepacking"
AS_ASKED = "as asked"
_WORDS = {"faster": "faster", "slower": "slower", "tie": "as fast"}
_LATENCY = series_look(3, "latency")
_SIZES = (
    (series_look(0, "peak"), "peak_bytes"),
    (series_look(1, "after loading"), "loaded_bytes"),
    (series_look(2, "held by the arena"), "arena_held_bytes"),
)


@dataclass(frozen=True, slots=True)
class MemorySetting(Variant):
    """One setting toggled. Sizes are resident memory above that of the imported library."""

    loaded_bytes: int | None = field(metadata=SIGNED)  # after the session was made
    ran_bytes: int | None = field(metadata=SIGNED)  # at the end
    peak_bytes: int | None = field(metadata=SIGNED)
    arena_peak_bytes: int | None = field(metadata=SIGNED)  # None: there is no arena, or no figure of it
    arena_held_bytes: int | None = field(metadata=SIGNED)


@dataclass(frozen=True, slots=True)
class MemorySettingsRecord(VariantsRecord):
    """The config as asked first, then one row a setting, all measured in one comparison."""

    columns = (
        "name loaded_bytes ran_bytes peak_bytes arena_peak_bytes arena_held_bytes latency_s verdict"
        " ratio=ratio.value low=ratio.low high=ratio.high failure"
    )

    rows: tuple[MemorySetting, ...]
    stopped: str = ""  # that a person stopped it and what is kept, in words

    def __str__(self) -> str:
        base = self.rows[0]
        head = f"{self.model_name}: as asked {in_mib(base.peak_bytes) or 'unknown memory'} at the peak"
        return "; ".join((head, *(_sentence(row, base) for row in self.rows[1:])))


def check_settings(record: MemorySettingsRecord, fix: str) -> None:
    """Refuse a record without rows."""
    if not record.rows:
        raise BundleError("rows: expected the config as asked at least.", fix)


def settings_of(config: Config) -> tuple[tuple[str, Config], ...]:
    """Return the config, and the config with each of its three memory settings toggled."""
    pattern, arena = config.memory_pattern is not False, config.cpu_arena is not False
    entries = dict(config.session_entries)
    packed = entries.get(PREPACKING) != "1"
    return (
        (AS_ASKED, config),
        (f"memory pattern {_onoff(not pattern)}", config.replace(memory_pattern=not pattern)),
        (f"arena {_onoff(not arena)}", config.replace(cpu_arena=not arena)),
        (
            f"prepacking {_onoff(not packed)}",
            config.replace(session_entries={**entries, PREPACKING: "1" if packed else "0"}),
        ),
    )


def settings_seen(
    model_name: str,
    names: tuple[str, ...],
    record: ComparisonRecord,
    arenas: tuple[Any, ...],
    stopped: str = "",
) -> MemorySettingsRecord:
    """Read a comparison of `settings_of`, with the arena's (peak, held) bytes of each from a profile."""
    rows = []
    for name, run, (peak, held) in zip(names, record.runs, arenas, strict=True):
        sizes = {
            "loaded_bytes": _above(run, "rss_loaded_bytes"),
            "ran_bytes": _above(run, "rss_bytes"),
            "peak_bytes": _above(run, "peak_rss_bytes"),
            "arena_peak_bytes": peak,
            "arena_held_bytes": held,
        }
        rows.append(MemorySetting.of(name, run, record, **sizes))
    return MemorySettingsRecord(model_name, tuple(rows), stopped)


def _above(run: Run, name: str) -> int | None:
    """Return the growth since before loading, the median over the processes."""
    grown = [
        max(0, size - process.rss_start_bytes)
        for process in run.processes
        if (size := getattr(process, name)) is not None and process.rss_start_bytes is not None
    ]
    return int(median(grown)) if grown else None


def _sentence(row: MemorySetting, base: MemorySetting) -> str:
    if row.failure is not None:
        return f"{row.name}: failed ({row.failure})"
    speed = _WORDS.get(row.verdict or "", row.verdict or "not judged")
    if row.ratio.factor and row.verdict in ("faster", "slower"):
        speed = f"{row.ratio.factor} as fast"
    if row.peak_bytes is None or base.peak_bytes is None:
        return f"{row.name}: memory not known, {speed}"
    change = row.peak_bytes - base.peak_bytes
    size = in_mib(abs(change))
    memory = "the same memory" if size == "0.0 MiB" else f"{size} {'less' if change < 0 else 'more'}"
    return f"{row.name}: {memory}, {speed}"


def _onoff(on: bool) -> str:
    return "on" if on else "off"


def settings_chart(record: MemorySettingsRecord) -> Chart:
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
    ratio = f" {row.ratio.factor}" if row.ratio.factor and row.verdict in ("faster", "slower") else ""
    return f"{in_ms(row.latency_s)}, {row.verdict}{ratio}"


class MemorySettings(Stoppable):
    """Memory pattern, arena and prepacking, each toggled alone. Made by `wb.memory_settings`."""

    record: MemorySettingsRecord


def memory_settings(
    model: Model | Any,
    config: Config | None = None,
    *,
    budget_s: float = SETTINGS_BUDGET_S,
    inputs: Feeds = None,
    seed: int = 0,
    calibration: Any = None,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
) -> MemorySettings:
    """Toggle memory pattern, arena and prepacking, one at a time, in one comparison: latency and memory.

    `cancel` keeps what was compared by then; what the arena holds is not known where it was not profiled yet.
    """
    source, fed = opened_with(model, inputs, seed)
    runnable = make_runnable(source, config or Config(), fed.feeds, calibration=calibration, cancel=cancel)
    names, configs = zip(*settings_of(runnable.config), strict=True)
    comparison = compare(
        runnable.model, *configs, inputs=inputs, budget_s=budget_s, seed=seed, progress=progress,
        keep=False, cancel=cancel,
    )  # fmt: skip
    arenas, stopped = dict[str, tuple[int | None, int | None]](), comparison.record.stopped
    try:
        for name, setting in zip(names if not stopped else (), configs, strict=False):
            profiled = profile(
                runnable.model, setting, inputs=inputs, seed=seed, budget_s=MEMORY_BUDGET_S, cancel=cancel,
                keep=False,
            )  # fmt: skip
            arena = memory_of(profiled)
            arenas[name] = (arena.arena_peak_bytes, arena.arena_held_bytes)
    except Cancelled:
        stopped = f"stopped on request, with the arena of {len(arenas)} of {len(names)} settings known"
    held = tuple(arenas.get(name, (None, None)) for name in names)
    record = settings_seen(runnable.model.name, names, comparison.record, held, stopped)
    return MemorySettings(record, comparison.about)


FEATURE = Feature(
    "memory settings",
    MemorySettingsRecord,
    check_settings,
    result=MemorySettings,
    chart=settings_chart,
    call="workbench.features.variants.memory_settings:memory_settings",
    takes=("inputs", "seed", "calibration", "progress"),
    says_stopped=True,
    heading="Memory settings, each toggled alone",
    button="Memory settings",
    hint="Memory pattern, arena and prepacking, each toggled alone; for the config shown",
    step="memory pattern, arena and prepacking, each toggled alone",
    effort=(20.0, 24, 600),
    tabs=("Memory and start",),
)
