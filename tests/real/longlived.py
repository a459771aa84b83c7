"""One worker for many models: started again when it dies or hangs, and bounded in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.core.worker.harness import interpreter
from workbench.core.config import Config
from workbench.core.errors import WorkerError
from workbench.core.measure.limits import Limits
from workbench.core.worker.launch import Worker
from workbench.core.worker.values import Feed, read_values, write_values

MAX_KIB = 4 << 20  # of addresses: a hostile shape is refused by the system before it fills the machine
PLAN = Config(intra_op_threads=1).plan().to_dict()
LIMITS = Limits(start_s=300, load_s=60, run_s=60)


class LongLived:
    """Asks as a round asks, but keeps the process, since a new one for each of thousands takes an hour."""

    def __init__(self, folder: Path, *, limits: Limits = LIMITS, plan: dict[str, Any] = PLAN) -> None:
        folder.mkdir()
        self._folder = folder
        self._limits = limits
        self._plan = plan
        self._python = interpreter(folder, f'ulimit -v {MAX_KIB} && exec "$PYTHON" "$@"')
        self._worker: Worker | None = None
        self.started = 0

    def __enter__(self) -> LongLived:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def first_run(self, model: Path, feeds: Sequence[Feed], *, run_s: float | None = None) -> None:
        """Load and run once; `run_s` is the limit of the run alone."""
        self._ask("load", "load", self._limits.load_s, model=str(model), plan=self._plan)
        path = self._folder / "feeds"
        write_values(path, feeds)
        self._ask("first_run", "first run", run_s or self._limits.run_s, feeds=str(path))

    def measure(self, model: Path, feeds: Sequence[Feed]) -> tuple[int, int]:
        """Everything that a round asks of a process: how many runs to warm up, and how many in a block."""
        self.first_run(model, feeds)
        warm = self._ask(
            "warm_up", "warm-up", self._limits.run_s, floor_s=0.001, bound_s=0.01, floor_runs=2, pacing_s=None
        )
        block = self._ask(
            "block",
            "run",
            self._limits.run_s,
            seconds=0.001,
            min_runs=2,
            max_runs=50,
            pacing_s=None,
            slow_down=0.0,
        )
        self._ask("usage", "run", self._limits.run_s)
        return len(warm.payload) // 8, len(block.payload) // 8

    def outputs(self) -> list[dict[str, Any]]:
        """What the model loaded last gives for its feeds."""
        path = self._folder / "outputs"
        self._ask("outputs", "outputs", self._limits.run_s, path=str(path))
        return read_values(path)

    def _ask(self, kind: str, stage: str, timeout_s: float, **body: Any) -> Any:
        if self._worker is None:
            self.started += 1
            self._worker = Worker(self._folder, name=f"worker-{self.started}", python=self._python)
            self._worker.hello(timeout_s=self._limits.start_s)
        try:
            return self._worker.request(kind, body, stage=stage, timeout_s=timeout_s)
        except WorkerError:
            self._end()
            raise

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None
