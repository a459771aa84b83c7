"""A load of our own: cores kept busy all the time, or one on and off with a diary, to check its detection."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType

_STEADY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"
_BURN = """
import os, random, signal, sys, time
rng, parent, most = random.Random(int(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while os.getppid() == parent:
    start = time.perf_counter()
    stop = start + rng.uniform(0.3, 3.0)
    children = [os.fork() for _ in range(rng.randint(1, most) - 1)]
    while time.perf_counter() < stop and (0 in children or os.getppid() == parent):
        pass
    if 0 in children:
        os._exit(0)
    print(start, time.perf_counter(), flush=True)
    time.sleep(rng.uniform(0.3, 3.0))
"""


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """Keep cores busy all the time, until the block or this process ends."""
    burners = [subprocess.Popen([sys.executable, "-c", _STEADY, str(os.getpid())]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


class OnOffLoad:
    """Burns one core, or at times up to `cores`, in bursts of 0.3 to 3 s with pauses as long.

    It ends with this process. The clock is the system's monotonic one.
    """

    def __init__(self, seed: int, cores: int = 1) -> None:
        self._seed, self._cores = seed, cores

    def __enter__(self) -> OnOffLoad:
        with tempfile.NamedTemporaryFile(delete=False, suffix=".diary") as diary:
            self._diary = Path(diary.name)
            self.process = subprocess.Popen(
                [sys.executable, "-c", _BURN, str(self._seed), str(os.getpid()), str(self._cores)],
                stdout=diary,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = time.perf_counter()
        self.process.kill()
        self.process.wait()
        lines = self._diary.read_text().splitlines()
        self._diary.unlink()
        self.bursts = [(float(line.split()[0]), float(line.split()[1])) for line in lines if " " in line]

    def share(self, start: float, end: float) -> float | None:
        """How much of a span was under load; None after the last burst that the diary has."""
        if not self.bursts or end > self.bursts[-1][1]:
            return None
        burnt = sum(max(0.0, min(end, stop) - max(start, begin)) for begin, stop in self.bursts)
        return burnt / (end - start)


def pick(rng: random.Random, cores: int = 1) -> OnOffLoad:
    return OnOffLoad(rng.getrandbits(30), cores)


def load_of(state: str, rng: random.Random) -> AbstractContextManager[object]:
    """Make a load: one or two cores kept busy, bursts on one and on two, else none of our own."""
    if state == "bursts":
        return pick(rng, cores=2)
    cores = {"one core": 1, "two cores": 2}.get(state, 0)
    return busy_cores(cores) if cores else nullcontext()
