"""A GPU's own counters, read from the driver while something runs: use, memory, power."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import psutil
import pynvml  # type: ignore[import-untyped]

EVERY_S = 0.02


@dataclass(frozen=True)
class Counters:
    """One reading."""

    busy: float  # share of the time since the last reading in which something ran
    used_bytes: int
    power_w: float | None  # None: not known


class Sampling:
    """Reads counters in a thread until the context ends; its text sums them up."""

    def __init__(self, read: Callable[[], Counters], every_s: float = EVERY_S) -> None:
        self.readings: list[Counters] = [read()]
        self._read, self._every_s = read, every_s
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="counters", daemon=True)

    def _sample(self) -> None:
        while not self._end.wait(self._every_s):
            self.readings.append(self._read())

    def __enter__(self) -> Sampling:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self.readings.append(self._read())

    def __str__(self) -> str:
        busy = [reading.busy for reading in self.readings]
        used = [reading.used_bytes for reading in self.readings]
        powers = [reading.power_w for reading in self.readings if reading.power_w is not None]
        texts = [
            f"{len(self.readings)} readings: use {median(busy):.0%} at the median, {max(busy):.0%} at most",
            f"memory {used[0] / 2**20:,.0f} MiB before, {max(used) / 2**20:,.0f} MiB at most",
        ]
        if powers:
            texts.append(f"power {median(powers):.0f} W at the median, {max(powers):.0f} W at most")
        return "; ".join(texts)


@contextmanager
def reader(*, stand_in: bool) -> Iterator[Callable[[], Counters]]:
    """Give the function that reads the first GPU; the stand-in reads the processor."""
    if stand_in:
        yield processor
        return
    pynvml.nvmlInit()
    try:
        yield nvml_reader(0)
    finally:
        pynvml.nvmlShutdown()


def processor() -> Counters:
    """Return the use of all cores and the machine's memory."""
    return Counters(psutil.cpu_percent() / 100, psutil.virtual_memory().used, None)


def nvml_reader(index: int) -> Callable[[], Counters]:
    """Return the function that reads a GPU through NVIDIA's library."""
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)

    def power_w() -> float | None:
        try:
            return float(pynvml.nvmlDeviceGetPowerUsage(handle)) / 1e3
        except pynvml.NVMLError:  # not every card tells it
            return None

    def read() -> Counters:
        busy = pynvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100
        return Counters(busy, int(pynvml.nvmlDeviceGetMemoryInfo(handle).used), power_w())

    return read
