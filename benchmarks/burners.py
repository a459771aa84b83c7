"""A load of our own: one core kept busy on and off, with a diary of when, so that detection is checked."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

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
