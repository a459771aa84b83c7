"""The peaks of this machine, measured once for each thread count and kept: what they are, not when."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from pathlib import Path

from workbench.core.background import check_cancel
from workbench.core.bundle.atomic import write_atomically
from workbench.core.bundle.codec import decode, encode
from workbench.core.bundle.columns import Columns
from workbench.core.bundle.machine import ONNXRUNTIME, installed
from workbench.core.errors import WorkbenchError
from workbench.core.home import cache_folder
from workbench.core.measure.machine import read_machine
from workbench.core.stored_files import trim
from workbench.features.profile.roofline.peaks import PeakRow, measure_peaks

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
    name = hashlib.sha256(json.dumps([*machine_as_seen, installed(*ONNXRUNTIME)]).encode()).hexdigest()[:32]
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
