"""A load of our own: cores kept busy all the time, or one on and off with a diary, to check its detection."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

_STEADY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"
_BURN = """
import os, random, sys, time
rng, parent = random.Random(int(sys.argv[1])), int(sys.argv[2])
while os.getppid() == parent:
    start = time.perf_counter()
    stop = start + rng.uniform(0.4, 2.0)
    while time.perf_counter() < stop and os.getppid() == parent:
        pass
    print(start, time.perf_counter(), flush=True)
    time.sleep(rng.uniform(0.4, 2.0))
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
    """Burns one core in bursts of 0.4 to 2 s with pauses as long, and ends with this process.

    The clock is the system's monotonic one.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __enter__(self) -> OnOffLoad:
        with tempfile.NamedTemporaryFile(delete=False, suffix=".diary") as diary:
            self._diary = Path(diary.name)
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BURN, str(self._seed), str(os.getpid())], stdout=diary
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = time.perf_counter()
        self._process.kill()
        self._process.wait()
        lines = self._diary.read_text().splitlines()
        self._diary.unlink()
        self.bursts = [(float(line.split()[0]), float(line.split()[1])) for line in lines if " " in line]

    def share(self, start: float, end: float) -> float | None:
        """How much of a span was under load; None after the last burst that the diary has."""
        if not self.bursts or end > self.bursts[-1][1]:
            return None
        burnt = sum(max(0.0, min(end, stop) - max(start, begin)) for begin, stop in self.bursts)
        return burnt / (end - start)


def pick(rng: random.Random) -> OnOffLoad:
    return OnOffLoad(rng.getrandbits(30))
