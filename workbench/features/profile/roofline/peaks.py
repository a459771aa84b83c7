"""The peaks of this machine, measured through ORT: large products in float32 and int8, a large pass."""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from workbench.core.background import check_cancel
from workbench.core.bundle.atomic import write_atomically
from workbench.core.bundle.codec import decode, encode
from workbench.core.bundle.columns import Columns
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.bundle.machine import ORT_PACKAGES, installed
from workbench.core.config import Config
from workbench.core.cpu import usable_cores
from workbench.core.errors import BundleError, WorkbenchError
from workbench.core.home import cache_folder
from workbench.core.installed import need
from workbench.core.measure.interference import LoadWatch, disturbances, others_cpu_s, threads_of
from workbench.core.measure.limits import Limits
from workbench.core.measure.machine import read_machine
from workbench.core.stored_files import trim
from workbench.core.worker.launch import WorkerFolder
from workbench.core.worker.values import write_values
from workbench.features.profile.running import Execution, run_job

SIDE = 1024  # of the square matrices: 4 MB each, large enough for all of a small machine's threads
PASS_ELEMENTS = 32 << 20  # 128 MiB in and out: beyond any last-level cache that a node could keep it in
_BUDGET_S = 0.6
WARMUP_RUNS = 3
_MAX_RUNS = 200
ATTEMPTS = 3  # of one rate, where other processes use the machine
_LIMITS = Limits(load_s=150.0, run_s=150.0)


@dataclass(frozen=True, slots=True)
class PeakRow:
    """The best that ORT reached at one thread count. None: it could not be measured."""

    threads: int
    float32_flops: float | None  # operations a second
    int8_flops: float | None
    bytes_per_s: float | None  # read and written together
    others_cores: float | None = None  # used by other processes in every attempt; None: one was quiet

    @property
    def rates(self) -> tuple[float | None, ...]:
        return self.float32_flops, self.int8_flops, self.bytes_per_s

    @property
    def doubt(self) -> str | None:
        """Why the true peaks may be higher."""
        if self.others_cores is None:
            return None
        return (
            f"other processes used {self.others_cores:.1f} cores while the peaks were measured, so the true "
            "ones may be higher: measure again when the machine is quiet"
        )

    def best_of(self, other: PeakRow) -> PeakRow:
        """Return the higher of each rate; quiet where one of the two measurements was."""
        float32_flops, int8_flops, bytes_per_s = (
            max((rate for rate in pair if rate is not None), default=None)
            for pair in zip(self.rates, other.rates, strict=True)
        )
        cores = (self.others_cores, other.others_cores)
        others = None if None in cores else min(core for core in cores if core is not None)
        return PeakRow(self.threads, float32_flops, int8_flops, bytes_per_s, others)


@dataclass(frozen=True, slots=True)
class PeakTable:
    """One row per thread count."""

    rows: tuple[PeakRow, ...]

    def to_frame(self) -> DataFrame:
        """Columns threads, float32_gflops, int8_gops, gb_per_s, doubt."""
        columns = ["threads", "float32_gflops", "int8_gops", "gb_per_s", "doubt"]
        rows = [
            (row.threads, *(None if rate is None else rate / 1e9 for rate in row.rates), row.doubt)
            for row in self.rows
        ]
        return data_frame(rows, columns=columns)


@dataclass(frozen=True, slots=True)
class Timing:
    """The fastest run of a model, and the use that other processes made of the machine meanwhile."""

    best_s: float
    others_cores: float | None  # None: the system does not tell
    disturbed: bool


TimeModel: TypeAlias = Callable[[Any, dict[str, Any], int, float, threading.Event | None], Timing]


def check_peaks(peaks: PeakRow, fix: str) -> None:
    """Refuse a rate of 0: a measured rate is above it, and it is divided by."""
    for name in ("float32_flops", "int8_flops", "bytes_per_s"):
        if getattr(peaks, name) == 0:
            raise BundleError(f"{name}: expected a rate above 0, or none.", fix)


def check_peak_table(table: PeakTable, fix: str) -> None:
    """Check each row as `check_peaks` does."""
    for row in table.rows:
        check_peaks(row, fix)


def time_model(
    model: Any, feed: dict[str, Any], threads: int, budget_s: float, cancel: threading.Event | None
) -> Timing:
    """Run a model in a process of its own for a moment."""
    with closing(LoadWatch()) as watch, WorkerFolder() as folder:
        began, before = time.perf_counter(), watch.read()
        path = folder / "peak.onnx"
        path.write_bytes(model.SerializeToString())
        write_values(folder / "feeds", [feed])
        config = Config(intra_op_threads=threads, io_binding=True)
        execution = Execution(path, config, [feed], WARMUP_RUNS, _MAX_RUNS, budget_s, limits=_LIMITS)
        answer = run_job(execution, folder, cancel=cancel)
        spent_s = others_cpu_s(before, watch.read(), threads_of(os.getpid()))
        wall_s = time.perf_counter() - began
    causes = disturbances(
        wall_s=wall_s,
        window_s=wall_s,
        run_delay_s=None,
        others_cpu_s=spent_s,
        threads=threads,
        usable_cores=usable_cores(),
    )
    return Timing(min(answer["samples_s"]), None if spent_s is None else spent_s / wall_s, bool(causes))


def measure_peaks(
    threads: tuple[int, ...],
    *,
    side: int = SIDE,
    pass_elements: int = PASS_ELEMENTS,
    budget_s: float = _BUDGET_S,
    attempts: int = ATTEMPTS,
    time_model: TimeModel = time_model,
    cancel: threading.Event | None = None,
) -> PeakTable:
    """Measure each rate in processes of their own, about two seconds per thread count on a quiet machine.

    A measurement that other processes disturbed is made again, `attempts` times in all; the fastest counts.
    """

    def rate(amount: int, model: Any, feed: dict[str, Any], count: int) -> tuple[float, float | None]:
        timings: list[Timing] = []
        while len(timings) < attempts and (not timings or timings[-1].disturbed):
            timings.append(time_model(model, feed, count, budget_s, cancel))
        others = [timing.others_cores or 0.0 for timing in timings]
        best_s = min(timing.best_s for timing in timings)
        return amount / best_s, min(others) if timings[-1].disturbed else None

    operations, moved_bytes = 2 * side**3, 8 * pass_elements
    rows = []
    for count in threads:
        rates, cores = zip(
            rate(operations, *_product(side, "MatMul", np.float32, np.float32, np.float32), count),
            # unsigned by signed integers, as dynamic quantization makes them
            rate(operations, *_product(side, "MatMulInteger", np.uint8, np.int8, np.int32), count),
            rate(moved_bytes, *_pass(pass_elements), count),
            strict=True,
        )
        busy = [core for core in cores if core is not None]
        rows.append(PeakRow(count, *rates, max(busy, default=None)))
    return PeakTable(tuple(rows))


def _product(side: int, op_type: str, left: Any, right: Any, out: Any) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    weight = rng.integers(-7, 8, (side, side)).astype(right)
    return _model(op_type, (side, side), left, out, {"w": weight}), {
        "x": rng.integers(0, 8, (side, side)).astype(left)
    }


def _pass(elements: int) -> tuple[Any, dict[str, Any]]:
    """Return a Relu: it reads and writes every element once, on all threads. ORT would eliminate a copy."""
    return _model("Relu", (elements,), np.float32, np.float32, {}), {"x": np.ones(elements, np.float32)}


def _model(op_type: str, dims: tuple[int, ...], left: Any, out: Any, weights: dict[str, Any]) -> Any:
    need("onnx")
    from onnx import helper, numpy_helper

    kind: Callable[[Any], int] = lambda dtype: helper.np_dtype_to_tensor_dtype(np.dtype(dtype))  # noqa: E731
    graph = helper.make_graph(
        [helper.make_node(op_type, ["x", *weights], ["y"], "peak")],
        f"peak of {prod(dims)}",
        [helper.make_tensor_value_info("x", kind(left), dims)],
        [helper.make_tensor_value_info("y", kind(out), dims)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


_FOLDER = "peaks"  # a file for each machine, ONNX Runtime and thread count
AGAIN_S = 600.0
_MOST_BYTES = 10_000


def machine_peaks(count: int, *, again: bool = False, cancel: threading.Event | None = None) -> PeakRow:
    """Return the peaks at a thread count, measured if none are kept; `again` keeps the best of both.

    A machine that was busy when they were measured is busy a moment later, too: for AGAIN_S, they stand.
    """
    check_cancel(cancel)
    place = _place(count)
    kept = None if place is None else _read(place, count)
    if kept is not None and place is not None and not (again and _age_s(place) >= AGAIN_S):
        return kept
    measured = measure_peaks((count,), cancel=cancel).rows[0]
    return keep_peaks(measured if kept is None else measured.best_of(kept))


def kept_peaks(count: int) -> PeakRow | None:
    """Return the peaks that were measured at a thread count; None: `wb.peaks` has not measured them."""
    place = _place(count)
    return None if place is None else _read(place, count)


def keep_peaks(peaks: PeakRow) -> PeakRow:
    """Keep measured peaks for the next call; a home that cannot be written costs nothing but time."""
    place = _place(peaks.threads)
    if place is not None:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(place, encode(peaks, Columns()))
            trim(place.parent)
        except (OSError, WorkbenchError):
            pass
    return peaks


def _place(count: int) -> Path | None:
    """Return the file of this machine as ORT sees it now: processor, cores, quota, version."""
    machine = read_machine()
    machine_as_seen = [machine.cpu, machine.isa_flags, machine.usable_cores, machine.quota_cores, count]
    name = hashlib.sha256(json.dumps([*machine_as_seen, installed(*ORT_PACKAGES)]).encode()).hexdigest()[:32]
    try:
        return cache_folder() / _FOLDER / f"{name}.json"
    except WorkbenchError:
        return None


def _read(place: Path, count: int) -> PeakRow | None:
    """Return the kept peaks; None where there are none, or the file holds something else."""
    try:
        held = decode(PeakRow, place.read_bytes(), Columns()) if place.stat().st_size <= _MOST_BYTES else None
    except (OSError, WorkbenchError):
        return None
    if held is None or held.threads != count:
        return None
    rates = (*held.rates, held.others_cores)
    return held if all(rate is None or 0 < rate < math.inf for rate in rates) else None


def _age_s(place: Path) -> float:
    """Return the seconds since a file was written."""
    try:
        return time.time() - place.stat().st_mtime
    except OSError:
        return math.inf
