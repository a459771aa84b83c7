"""What the rounds of a measurement share: machine, watch, folder, clock, and how workers start."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from workbench.core.bundle.machine import Machine
from workbench.core.measure.interference import LoadWatch
from workbench.core.measure.machine import read_machine
from workbench.core.worker.forking import ForkServers
from workbench.core.worker.launch import Worker, WorkerFolder

MEMORY_SHARE = 0.6  # share of the machine's memory for the workers of a round
MEMORY_PER_MODEL_BYTE = 3  # weights, their prepacked copies, activations

StartWorker: TypeAlias = Callable[..., Worker]  # the constructor of Worker, or of a fake one in tests


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine interface of a measurement; tests supply their own clock and workers."""

    machine: Machine
    folder: Path
    watch: LoadWatch
    clock: Callable[[], float] = time.perf_counter
    start_worker: StartWorker = Worker
    cancel: threading.Event | None = None

    def has_room(self, model_bytes: int) -> bool:
        """Return whether sessions of models of so many bytes in all fit into memory at once."""
        limit = self.machine.memory_limit_bytes or self.machine.memory_bytes
        return model_bytes * MEMORY_PER_MODEL_BYTE <= MEMORY_SHARE * limit


@contextmanager
def surroundings_here(
    cancel: threading.Event | None,
    start_worker: StartWorker | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Surroundings]:
    """Yield the surroundings on this machine; workers are forked where nothing else is given."""
    with WorkerFolder() as folder, ForkServers(cancel) as servers, closing(LoadWatch()) as watch:
        yield Surroundings(read_machine(), folder, watch, clock, start_worker or servers.start, cancel)
