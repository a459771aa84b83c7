"""The worth of memory pattern, arena and prepacking: latency and memory of each from one comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.comparison import ComparisonRecord, verdict_cells
from workbench.core.bundle.display import frame_of
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.core.text import factor, in_mib
from workbench.features.profile.trace import SIGNED

if TYPE_CHECKING:
    import pandas as pd

PREPACKING = "session.disable_prepacking"
AS_ASKED = "as asked"
_WORDS = {"faster": "faster", "slower": "slower", "tie": "as fast"}


@dataclass(frozen=True, slots=True)
class MemorySetting:
    """One setting toggled. Sizes are resident memory above that of the imported library."""

    name: str
    loaded_bytes: int | None = field(metadata=SIGNED)  # after the session was made
    ran_bytes: int | None = field(metadata=SIGNED)  # at the end
    peak_bytes: int | None = field(metadata=SIGNED)
    arena_peak_bytes: int | None = field(metadata=SIGNED)  # None: there is no arena, or no figure of it
    arena_held_bytes: int | None = field(metadata=SIGNED)
    latency_s: float | None
    verdict: str | None  # None: this is the baseline
    ratio: float | None  # the baseline's time over the time with this setting
    low: float | None
    high: float | None
    failure: str | None


@dataclass(frozen=True, slots=True)
class MemorySettingsRecord:
    """The config as asked first, then one row a setting, all measured in one comparison."""

    model_name: str
    rows: tuple[MemorySetting, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per setting."""
        names = MemorySetting.__dataclass_fields__
        sizes = [name for name in names if name.endswith("_bytes")]
        return frame_of(self.rows, names).astype(dict.fromkeys(sizes, "Int64"))

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
    model_name: str, names: tuple[str, ...], record: ComparisonRecord, arenas: tuple[Any, ...]
) -> MemorySettingsRecord:
    """Read a comparison of `settings_of`, with the arena's (peak, held) bytes of each from a profile."""
    verdicts = {verdict.label: verdict for verdict in record.verdicts}
    rows = []
    for name, run, (peak, held) in zip(names, record.runs, arenas, strict=True):
        rows.append(
            MemorySetting(
                name=name,
                loaded_bytes=_above(run, "rss_loaded_bytes"),
                ran_bytes=_above(run, "rss_bytes"),
                peak_bytes=_above(run, "peak_rss_bytes"),
                arena_peak_bytes=peak,
                arena_held_bytes=held,
                latency_s=run.latency.median_s,
                failure=None if run.failure is None else run.failure.problem,
                **verdict_cells(verdicts.get(run.label)),
            )
        )
    return MemorySettingsRecord(model_name, tuple(rows))


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
    if row.ratio is not None and row.verdict in ("faster", "slower"):
        speed = f"{factor(row.ratio, row.low, row.high)} as fast"
    if row.peak_bytes is None or base.peak_bytes is None:
        return f"{row.name}: memory not known, {speed}"
    change = row.peak_bytes - base.peak_bytes
    size = in_mib(abs(change))
    memory = "the same memory" if size == "0.0 MiB" else f"{size} {'less' if change < 0 else 'more'}"
    return f"{row.name}: {memory}, {speed}"


def _onoff(on: bool) -> str:
    return "on" if on else "off"
