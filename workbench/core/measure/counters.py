"""The system during measuring: time stolen by other guests, throttling by heat or quota, the battery."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path

from workbench.core.cgroup import throttle_count
from workbench.core.measure.interference import steal_s

_CPUS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts since boot; None if the system does not provide them."""

    steal_s: float | None
    thermal_throttles: int | None
    quota_throttles: int | None

    def since(self, before: Counters) -> Counters:
        pairs = zip(astuple(self), astuple(before), strict=True)
        return Counters(*(None if None in pair else pair[0] - pair[1] for pair in pairs))


def read_counters() -> Counters:
    return Counters(steal_s(), _thermal(), throttle_count())


def on_battery() -> bool:
    """Return whether the machine is known to run on its battery."""
    import psutil

    read = getattr(psutil, "sensors_battery", None)  # some systems have no such reading
    try:
        battery = None if read is None else read()
    except OSError:  # a container may have no folder of power supplies
        return False
    return battery is not None and battery.power_plugged is False


def _thermal() -> int | None:
    files = list(_CPUS.glob("cpu[0-9]*/thermal_throttle/core_throttle_count"))
    return sum(int(file.read_text()) for file in files) if files else None
