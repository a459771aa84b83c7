"""A deployment: the files that were written, and what its server did when it was checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Literal

from workbench.core.bundle.comparison import OutputAgreement
from workbench.core.bundle.display import DataFrame, data_frame, frame_of
from workbench.core.bundle.kinds import check_seconds
from workbench.core.bundle.run import median_of
from workbench.core.config.config import Config
from workbench.core.measure.gates import OF_ANSWER, Gate
from workbench.core.measure.pairs import LEAST_S
from workbench.core.measure.percentiles import MIN_PROCESSES, Figure, mean_of
from workbench.core.text import counted, in_digits, in_mib, in_ms, shorten

NO_INTERVAL = f"no interval from fewer than {MIN_PROCESSES} rounds"


@dataclass(frozen=True, slots=True)
class DeployedFile:
    """One file of a deployment; `path` is relative to its folder."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ServedLoad:
    """One part of a check: that many callers ask through HTTP, one request after the other each."""

    callers: int
    latencies_s: tuple[float, ...]
    elapsed_s: float

    @property
    def throughput(self) -> float | None:
        """Requests a second of all callers together."""
        if not self.latencies_s or self.elapsed_s <= 0:
            return None
        return len(self.latencies_s) / max(self.elapsed_s, LEAST_S)


@dataclass(frozen=True, slots=True)
class ServedRound:
    """The bare session and the server, one after the other while the other one rests."""

    bare_s: tuple[float, ...]
    served: tuple[ServedLoad, ...]  # the first with one caller


@dataclass(frozen=True, slots=True)
class DeploymentCheck:
    """What a running server did: outputs against the measured config, latency beside the bare session."""

    ready_s: float  # from the start of the process to the first ready answer, or to the end of a script
    providers: tuple[str, ...]  # as the server tells them; empty: it was a script
    agreement: tuple[OutputAgreement, ...]
    rounds: tuple[ServedRound, ...]

    @property
    def agrees(self) -> bool | None:
        """Whether all outputs equal those measured; None: nothing was compared, or not all could be."""
        known = {row.agrees for row in self.agreement}
        return False if False in known else True if known == {True} else None

    @property
    def bare_s(self) -> float | None:
        """Median latency of the session without a server."""
        return median_of(s for part in self.rounds for s in part.bare_s)

    @property
    def callers(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(load.callers for part in self.rounds for load in part.served))

    def latencies_s(self, callers: int) -> tuple[float, ...]:
        return tuple(s for load in self._loads(callers) for s in load.latencies_s)

    def throughput(self, callers: int) -> Figure:
        """Requests a second over the rounds."""
        rates = (load.throughput for load in self._loads(callers))
        return mean_of("throughput", [rate for rate in rates if rate is not None])

    @property
    def overhead_s(self) -> Figure:
        """What serving adds to a run for one caller, over the rounds."""
        added = [
            median(load.latencies_s) - median(part.bare_s)
            for part in self.rounds
            for load in part.served
            if load.callers == 1 and load.latencies_s and part.bare_s
        ]
        return mean_of("overhead", added, least=-math.inf)

    def _loads(self, callers: int) -> list[ServedLoad]:
        return [load for part in self.rounds for load in part.served if load.callers == callers]


@dataclass(frozen=True, slots=True)
class DeploymentRecord:
    """A written deployment. `check` is None until its server was tried."""

    name: str
    kind: Literal["python", "triton", "pipeline"]
    config: Config
    providers: tuple[str, ...]
    batchable: bool
    concurrency: int
    files: tuple[DeployedFile, ...]
    notes: tuple[str, ...]
    check: DeploymentCheck | None

    def to_frame(self) -> DataFrame:
        """One row per way to call: latencies in seconds, requests a second; files if nothing was timed."""
        if self.check is None or not self.check.rounds:
            return frame_of(self.files, ("path", "size_bytes", "sha256"), names={"path": "file"})
        columns = ["callers", "median_s", "p99_s", "requests_per_s", "low_per_s", "high_per_s", "samples"]
        bare = [s for part in self.check.rounds for s in part.bare_s]
        rows: list[tuple[object, ...]] = [
            ("bare session", median_of(bare), _p99(bare), None, None, None, len(bare))
        ]
        for callers in self.check.callers:
            latencies = self.check.latencies_s(callers)
            rate, name = self.check.throughput(callers), f"HTTP, {counted(callers, 'caller')}"
            times = median_of(latencies), _p99(latencies)
            rows.append((name, *times, rate.value, rate.low, rate.high, len(latencies)))
        return data_frame(rows, columns=columns)

    def __str__(self) -> str:
        total = sum(file.size_bytes for file in self.files)
        lines = [f"{self.name}: {counted(len(self.files), 'file')} for {self.kind}, {in_mib(total)}"]
        if self.check is not None:
            lines.append(_checked(self.check, "script took" if self.kind == "pipeline" else "ready after"))
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def check_deployment_record(record: DeploymentRecord, fix: str) -> None:
    """Refuse times that no check could have measured."""
    for part in () if record.check is None else record.check.rounds:
        check_seconds(part.bare_s, "bare_s", fix)
        for load in part.served:
            check_seconds((*load.latencies_s, load.elapsed_s), "served", fix)


def _checked(check: DeploymentCheck, started: str) -> str:
    overhead = check.overhead_s
    parts = [_outputs(check), f"{started} {check.ready_s:.1f} s"]
    if overhead.value is not None and check.bare_s is not None:
        parts.append(f"{_added(overhead)} to {in_ms(check.bare_s)} of the session")
    for callers in check.callers:
        rate = check.throughput(callers)
        if rate.value is not None:
            interval = _ends(rate, in_digits)
            parts.append(f"{in_digits(rate.value)} requests/s ({interval}) from {counted(callers, 'caller')}")
    return "; ".join(parts)


def _outputs(check: DeploymentCheck) -> str:
    """Return whether the outputs equal those measured; a comparison that could not be made is not known."""
    if check.agrees is False:
        return "OUTPUTS DIFFER from those measured"
    if not check.agreement:
        return "outputs were not compared"
    for row in check.agreement:
        if row.agrees is None:
            return f"whether outputs equal those measured is not known ({shorten(row.output)}: {row.reason})"
    return "outputs equal those measured"


def _added(overhead: Figure) -> str:
    """Return what HTTP adds, as far as it is known: it cannot take time away."""
    if overhead.low is None or overhead.high is None or overhead.high <= 0:
        reason = NO_INTERVAL if overhead.high is None else "the session itself was slower in these rounds"
        return f"what HTTP adds is not known ({reason})"
    if overhead.low <= 0:
        return f"HTTP adds at most {in_ms(overhead.high)}"
    return f"HTTP adds {in_ms(overhead.value)} ({_ends(overhead, in_ms)})"


def _ends(interval: Figure, in_words: Callable[[float], str | None]) -> str:
    if interval.low is None or interval.high is None:
        return NO_INTERVAL
    return f"{in_words(interval.low)} to {in_words(interval.high)}"


def _p99(values: list[float] | tuple[float, ...]) -> float | None:
    """Return the 99th percentile of at least 100 values."""
    return sorted(values)[math.ceil(0.99 * len(values)) - 1] if len(values) >= 100 else None


def deployment_gates(record: DeploymentRecord) -> Iterator[Gate]:
    """Yield the check of the outputs of a tried server; it is open where not all could be compared."""
    if record.check is not None:
        yield Gate("outputs", OF_ANSWER[record.check.agrees], str(record))
