"""Workers and a clock without processes: a comparison in milliseconds, with exact times."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.factories.runs import machine
from workbench.core.bundle.comparison import InputsRecord, ModelRecord
from workbench.core.config import Config
from workbench.core.errors import RunFailed
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.interference import LoadReading
from workbench.core.measure.measuring import Measuring
from workbench.core.measure.surroundings import Surroundings
from workbench.core.worker.protocol import Message
from workbench.core.worker.values import write_values


class Clock:
    """Seconds that pass only when something says that it took some."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class QuietWatch:
    """Nobody else uses the machine, or `others_cores` all the time."""

    def __init__(self, clock: Clock, others_cores: float = 0.0) -> None:
        self._clock, self._others_cores = clock, others_cores

    def read(self) -> LoadReading:
        return LoadReading(self._clock(), {1: round(self._clock() * self._others_cores * 1e9)})

    def close(self) -> None:
        pass


@dataclass
class World:
    """How fast each config runs, and how much its times scatter from one session to the next."""

    run_s: dict[str, float]
    scatter: float = 0.0
    seed: int = 0
    start_s: float = 0.02
    outputs: Callable[[str, int], float] = lambda *_: 1.0
    failing: frozenset[str] = frozenset()
    others_cores: float = 0.0
    configs: dict[str, Config] = field(default_factory=dict)  # by label; others have the defaults
    providers: tuple[str, ...] = ("CPUExecutionProvider",)  # in effect in every session
    nodes_on: dict[str, int] = field(default_factory=lambda: {"CPUExecutionProvider": 15})
    log: str = ""
    clock: Clock = field(default_factory=Clock)
    workers: list[str] = field(default_factory=list)  # labels, as they were started
    sessions: list[str] = field(default_factory=list)  # labels, as sessions were made
    living: list[FakeWorker] = field(default_factory=list)  # the processes of the current round
    blocks: list[tuple[str, bool]] = field(default_factory=list)  # (label, whether all others stood still)
    cores: dict[str, list[int]] = field(
        default_factory=dict
    )  # by label, that a calling thread can be held to
    held_to: set[tuple[str, int | None]] = field(default_factory=set)  # label and core of each block
    lead_ins: list[tuple[int, str, int]] = field(default_factory=list)  # processes so far, label, runs
    freezes: bool = True  # whether a process that is asked to stand still does

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def start(self, folder: Path, *, name: str, **_: Any) -> Any:
        label = name.split("-")[0]
        self.workers.append(label)
        worker = FakeWorker(self, folder, name, label)
        self.living.append(worker)
        return worker

    def compare(
        self, folder: Path, *, measured: Callable[[Any], None] = lambda _: None, **changes: Any
    ) -> Measuring:
        """Run the measuring loop to its end; `measured` is given each progress report."""
        configs = tuple(self.configs.get(label, Config()) for label in self.run_s)
        request = CompareRequest(
            model=folder / "m.onnx",
            model_name="m",
            model_bytes=changes.pop("model_bytes", 1),
            model_record=lambda: ModelRecord("m", "0" * 64, 1, 0),
            configs=configs,
            feeds=[{"x": np.zeros(1)}],
            inputs=InputsRecord("by hand", None, (), ()),
            **changes,
        )
        candidates = tuple(
            Candidate(label, config, request.model, {}, folder / "feeds")
            for label, config in zip(request.labels, configs, strict=True)
        )
        watch: Any = QuietWatch(self.clock, self.others_cores)
        surroundings = Surroundings(machine(), folder, watch, self.clock, self.start)
        earlier = request.earlier
        began = 0.0 if earlier is None else -earlier.protocol.elapsed_s
        measuring = Measuring(request, candidates, surroundings, began=began, on_progress=measured)
        measuring.run()
        return measuring


class FakeWorker:
    """Answers like a worker process and takes time on the fake clock."""

    pid = -1
    can_freeze = True
    is_frozen = False

    def __init__(self, world: World, folder: Path, name: str, label: str) -> None:
        self.name = name
        self.world, self._folder, self.label = world, folder, label
        self._run_s = world.run_s[label]

    def hello(self, **_: Any) -> dict[str, Any]:
        self.world.clock.now_s += self.world.start_s
        versions = {"python": "3.12", "onnxruntime": "1.31.1", "numpy": "2.0"}
        return {"spawn_s": self.world.start_s, "import_s": 0.1, "versions": versions}

    def request(self, kind: str, body: dict[str, Any], **_: Any) -> Message:
        answer: Message = getattr(self, f"do_{kind}")(**body)
        return answer

    def freeze(self) -> None:
        self.is_frozen = self.world.freezes

    def thaw(self) -> None:
        self.is_frozen = False

    def kill(self) -> None:
        if self in self.world.living:
            self.world.living.remove(self)

    close = kill

    def log_text(self) -> str:
        return self.world.log

    def __enter__(self) -> FakeWorker:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def do_load(self, **_: Any) -> Message:
        world = self.world
        if self.label in world.failing:
            raise RunFailed("no kernel", "another one")
        world.clock.now_s += 0.02
        world.sessions.append(self.label)
        self._run_s = world.run_s[self.label] * (1 + world.rng.gauss(0, world.scatter))
        memory = {"rss_start_bytes": 1, "rss_loaded_bytes": 2}
        return Message(
            "done",
            {
                "load_s": 0.02,
                "providers": list(world.providers),
                "available": ["CUDAExecutionProvider", "CPUExecutionProvider"],
                "nodes_on": world.nodes_on,
                "threads": 2,
                **memory,
            },
        )

    def do_first_run(self, **_: Any) -> Message:
        return Message("done", {"first_run_s": self._spend(1), "io": "run", "feeds": 1})

    def do_outputs(self, path: str) -> Message:
        number = self.world.sessions.count(self.label)
        write_values(Path(path), [{"y": np.array([self.world.outputs(self.label, number)])}])
        return Message("done", {"outputs": ["y"]})

    def do_warm_up(self, **_: Any) -> Message:
        return self._runs(8, {"steady": True, "cores": self.world.cores.get(self.label, [])})

    def do_block(self, seconds: float, min_runs: int, core: int | None, lead_in: int, **_: Any) -> Message:
        self.world.held_to.add((self.label, core))
        self.world.lead_ins.append((len(self.world.workers), self.label, lead_in))
        others = [worker for worker in self.world.living if worker is not self]
        self.world.blocks.append((self.label, all(worker.is_frozen for worker in others)))
        count = max(min_runs, round(seconds / self._run_s), 1)
        nanoseconds = round(count * self._run_s * 1e9)
        return self._runs(count, {"wall_ns": nanoseconds, "cpu_ns": nanoseconds, "run_delay_ns": 0})

    def do_usage(self) -> Message:
        memory = {"rss_bytes": 3, "peak_rss_bytes": 4}
        return Message("done", {"providers": ["CPUExecutionProvider"], **memory})

    def _runs(self, count: int, body: dict[str, Any]) -> Message:
        self._spend(count)
        return Message("done", body, array("q", [round(self._run_s * 1e9)] * count).tobytes())

    def _spend(self, runs: int) -> float:
        self.world.clock.now_s += runs * self._run_s
        return runs * self._run_s
