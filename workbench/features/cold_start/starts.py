"""Cold start, step by step, in fresh processes: as asked, unpacked, with and without its saved graph."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.core.measure.limits import Limits
from workbench.core.prepare.preparing import Prepared
from workbench.core.prepare.runnable import Runnable
from workbench.core.text import in_ms
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import write_values
from workbench.features.profile.running import Execution, can_be_saved, run_job

if TYPE_CHECKING:
    import pandas as pd

Way = Literal["as_asked", "without_prepacking", "saved_ahead", "without_saving"]
WAYS: tuple[Way, ...] = ("as_asked", "without_prepacking", "saved_ahead", "without_saving")
SAVING_STEPS = {"saved graph": "pre-optimized", "compiled model": "compiled"}  # to the graph in words
_MEMORY = (
    ("process start", "bare_bytes"),
    ("import", "import_bytes"),
    ("load", "load_bytes"),
    ("first run", "run_bytes"),
    ("steady run", "steady_bytes"),
)
REPEATS = 3  # at most
FEWEST = 2
CLOSE = 0.15  # share of the time to the first answer that two starts may differ by
STEADY_S = 0.1
NO_PREPACKING = ("session.disable_prepacking", "1")


@dataclass(frozen=True, slots=True)
class ProcessStart:
    """One process from its start to its steady state. Resident memory is None where it is not known."""

    process_s: float  # from its start to its first message, without the import
    import_s: float
    load_s: float
    first_run_s: float
    steady_s: float  # the median run once warm
    bare_bytes: int | None  # before the import
    import_bytes: int | None
    load_bytes: int | None
    run_bytes: int | None  # after the first run
    steady_bytes: int | None

    @property
    def first_answer_s(self) -> float:
        """The time to the first output."""
        return self.process_s + self.import_s + self.load_s + self.first_run_s


@dataclass(frozen=True, slots=True)
class GraphInCache:
    """The saved graph that a config loads: found among the prepared models, or made for this start."""

    words: str  # "pre-optimized" or "compiled"
    hit: bool
    made_s: float  # what making it took, now or then

    def __str__(self) -> str:
        cache = "a hit in the cache, made before" if self.hit else "a miss in the cache, made now"
        return f"its {self.words} graph ({cache} in {in_ms(self.made_s)})"


@dataclass(frozen=True, slots=True)
class ColdStartRecord:
    """Repeated starts of one config in several ways, each in a process of its own."""

    label: str
    as_asked: tuple[ProcessStart, ...]
    without_prepacking: tuple[ProcessStart, ...]
    saved_ahead: tuple[ProcessStart, ...]  # empty: this graph cannot be saved, or is saved already
    without_saving: tuple[ProcessStart, ...] = ()  # of a config that saves its graph: as if it did not
    saved: GraphInCache | None = None  # None: the config saves no graph

    def _median(self, way: Way, name: str) -> float | None:
        """Return the median of one figure over the starts; None where it is not known."""
        values = [getattr(start, name) for start in getattr(self, way)]
        return float(median(values)) if values and None not in values else None

    @property
    def load_s(self) -> float:
        return self._median("as_asked", "load_s") or 0.0

    @property
    def prepack_s(self) -> float:
        """The time that prepacking adds to loading; a negative difference is noise and counts as 0."""
        return max(0.0, self.load_s - (self._median("without_prepacking", "load_s") or 0.0))

    @property
    def optimize_s(self) -> float | None:
        """The time that loading takes longer than from a pre-optimized graph."""
        ahead_s = self._median("saved_ahead", "load_s")
        return None if ahead_s is None else max(0.0, self.load_s - ahead_s)

    @property
    def saves_s(self) -> float | None:
        """What the config's saved graph takes from the time to the first answer; None: not measured."""
        without_s = self.first_answer_s("without_saving")
        return None if without_s is None else without_s - self.until_first_answer_s

    @property
    def is_beyond_noise(self) -> bool:
        """Whether each start with the saved graph was faster than each without it, or each slower."""
        with_s, without_s = (
            [start.first_answer_s for start in starts] for starts in (self.as_asked, self.without_saving)
        )
        return bool(without_s) and (max(with_s) < min(without_s) or min(with_s) > max(without_s))

    @property
    def steps(self) -> tuple[tuple[str, float | None], ...]:
        """Seconds of each step in order; reading the file is loading less optimizing and prepacking.

        Of a saved graph it is all but prepacking.
        """
        read_s = None
        if self.optimize_s is not None or self.saved is not None:
            read_s = max(0.0, self.load_s - (self.optimize_s or 0.0) - self.prepack_s)
        return (
            ("process start", self._median("as_asked", "process_s")),
            ("import", self._median("as_asked", "import_s")),
            ("read", read_s),
            ("optimize", self.optimize_s),
            ("prepack", self.prepack_s),
            ("first run", self._median("as_asked", "first_run_s")),
            ("steady run", self._median("as_asked", "steady_s")),
        )

    def resident(self, way: Way = "as_asked") -> tuple[tuple[str, int | None], ...]:
        """Return resident memory after each stage, the median of the starts; None where it is not known."""
        sizes = [(stage, self._median(way, field)) for stage, field in _MEMORY]
        return tuple((stage, None if size is None else int(size)) for stage, size in sizes)

    @property
    def prepack_bytes(self) -> int | None:
        """The memory of prepacked weights after loading; negative where prepacking freed more."""
        return _less(self._loaded("as_asked"), self._loaded("without_prepacking"))

    @property
    def optimize_bytes(self) -> int | None:
        """The memory still held after loading because the graph was optimized here and not ahead."""
        return _less(self._loaded("as_asked"), self._loaded("saved_ahead"))

    def _loaded(self, way: Way) -> int | None:
        resident = dict(self.resident(way))
        return _less(resident["load"], resident["import"])

    @property
    def until_first_answer_s(self) -> float:
        """From nothing to the first output."""
        return self.first_answer_s("as_asked") or 0.0

    def first_answer_s(self, way: Way) -> float | None:
        """Return the time to the first output for one way of starting; None where it was not tried."""
        return self._median(way, "first_answer_s")

    def __str__(self) -> str:
        ahead_s, peak = self.first_answer_s("saved_ahead"), dict(self.resident())["first run"]
        parts = [f"{self.label}: {in_ms(self.until_first_answer_s)} to the first answer"]
        if ahead_s is not None:
            parts.append(f"{in_ms(ahead_s)} with the pre-optimized graph")
        if self.saved is not None:
            parts.append(f"{self.saved} {self._worth()}")
        if peak is not None:
            parts.append(f"then {peak / (1 << 20):,.4g} MiB resident")
        if self.prepack_bytes is not None and self.prepack_bytes > 0:
            parts.append(f"of them {self.prepack_bytes / (1 << 20):,.3g} MiB for prepacked weights")
        return ", ".join(parts)

    def _worth(self) -> str:
        saves_s = self.saves_s
        if saves_s is None:
            return "saves what was not measured"
        if not self.is_beyond_noise:
            return "makes no difference beyond the noise of the starts"
        return f"{'saves' if saves_s > 0 else 'costs'} {in_ms(abs(saves_s))} of a start"

    def to_frame(self) -> pd.DataFrame:
        """One row per way of starting: medians of the steps and of resident memory after them.

        `saved_graph` is "hit" or "miss" where the config loads a graph of the cache, `saves_s` what it saves.
        """
        import pandas as pd

        names = ProcessStart.__dataclass_fields__
        saved = None if self.saved is None else "hit" if self.saved.hit else "miss"
        graphs: dict[Way, dict[str, Any]] = {"as_asked": {"saved_graph": saved, "saves_s": self.saves_s}}
        absent = dict.fromkeys(("saved_graph", "saves_s"))
        frame = pd.DataFrame(
            {
                "label": self.label,
                "start": way,
                **{name: self._median(way, name) for name in names},
                **graphs.get(way, absent),
            }
            for way in WAYS
            if getattr(self, way)
        )
        sizes = [name for name in names if name.endswith("_bytes")]
        frame[sizes] = frame[sizes].astype("Float64").round().astype("Int64")
        return frame.astype({"saved_graph": "string", "saves_s": "Float64"})


def check_starts(record: ColdStartRecord, fix: str) -> None:
    """Refuse a record without a start, and one that saves nothing but tells what that is worth."""
    if not record.as_asked or not record.without_prepacking:
        raise BundleError("as_asked, without_prepacking: expected a start at least.", fix)
    if record.without_saving and record.saved is None:
        raise BundleError("without_saving: expected none, since no graph is saved.", fix)


def measure_starts(
    runnable: Runnable,
    *,
    label: str = "A",
    repeats: int = REPEATS,
    limits: Limits | None = None,
    cancel: threading.Event | None = None,
) -> ColdStartRecord:
    """Start processes in turns, so that a drift of the machine affects all ways alike.

    The last turn is left out where the starts of each way agree.
    """
    model, config, feeds = runnable.model.path, runnable.config, runnable.feeds
    limits = limits or Limits()
    bare = config.replace(session_entries=dict([*config.session_entries, NO_PREPACKING]))
    starts: dict[Way, list[ProcessStart]] = {way: [] for way in WAYS}
    with WorkerFolder() as folder:
        write_values(folder / "feeds", feeds)
        ways: dict[Way, tuple[Path, Config]] = {
            "as_asked": (model, config),
            "without_prepacking": (model, bare),
        }
        unsaved = unsaved_start(runnable)
        if unsaved is not None:
            ways["without_saving"] = unsaved
        elif can_be_saved(config):
            saved = folder / "saved.onnx"
            execution = Execution(
                model, config, feeds, warmup_runs=0, max_runs=1, budget_s=0.0, limits=limits
            )
            run_job(execution, folder, optimized=saved, cancel=cancel)
            ways["saved_ahead"] = (saved, config.replace(level="disabled", disabled_passes=()))
        for turn in range(repeats):
            if turn >= FEWEST and all(map(are_close, filter(None, starts.values()))):
                break
            for way, (path, session_config) in ways.items():
                starts[way].append(_start(path, session_config, folder / "feeds", limits, cancel))
    asked, bare_starts, ahead, unsaved_starts = (tuple(starts[way]) for way in WAYS)
    return ColdStartRecord(label, asked, bare_starts, ahead, unsaved_starts, in_cache(runnable.prepared))


def in_cache(prepared: Prepared) -> GraphInCache | None:
    """Return the saved graph that a config loads, from the record of its step."""
    step = prepared.steps[-1] if prepared.steps else None
    if step is None or step.name not in SAVING_STEPS:
        return None
    return GraphInCache(SAVING_STEPS[step.name], step.cached, step.duration_s)


def unsaved_start(runnable: Runnable) -> tuple[Path, Config] | None:
    """Return the file before its graph was saved, and the config that makes it ready at every load."""
    prepared = runnable.prepared
    if in_cache(prepared) is None:
        return None
    before = prepared.stages[-2] if len(prepared.stages) > 1 else prepared.original
    return before.path, prepared.asked.runtime_only


def are_close(starts: Sequence[ProcessStart]) -> bool:
    """Return whether the starts of one way agree on the times to load and to the first answer."""
    loads, answers = ([getattr(start, name) for start in starts] for name in ("load_s", "first_answer_s"))
    return all(max(times) - min(times) <= CLOSE * min(answers) for times in (loads, answers))


def _start(
    model: Path, config: Config, feeds: Path, limits: Limits, cancel: threading.Event | None
) -> ProcessStart:
    with (
        WorkerFolder() as folder,
        Worker(
            folder, name="coldstart", python=config.interpreter, memory_bytes=limits.memory_bytes
        ) as worker,
    ):
        hello = worker.hello(timeout_s=limits.start_s, cancel=cancel)

        def ask(kind: str, stage: str, limit_s: float, **body: Any) -> Any:
            return worker.request(kind, body, stage=stage, timeout_s=limit_s, cancel=cancel)

        plan = config.plan().to_dict()
        loaded = ask("load", "load", limits.load_s, model=str(model), plan=plan).body
        first = ask("first_run", "first run", limits.run_s, feeds=str(feeds)).body
        run = ask("usage", "run", limits.run_s).body
        bounds = {"floor_s": STEADY_S, "bound_s": 4 * STEADY_S, "floor_runs": 8, "pacing_s": None}
        warm = ask("warm_up", "warm-up", limits.run_s, **bounds)
        steady = ask("usage", "run", limits.run_s).body
    samples = array("q")
    samples.frombytes(warm.payload)
    return ProcessStart(
        process_s=max(0.0, hello["spawn_s"] - hello["import_s"]),
        import_s=hello["import_s"],
        load_s=loaded["load_s"],
        first_run_s=first["first_run_s"],
        steady_s=median(samples[len(samples) // 2 :]) / 1e9,
        bare_bytes=hello.get("bare_bytes"),
        import_bytes=loaded["rss_start_bytes"],
        load_bytes=loaded["rss_loaded_bytes"],
        run_bytes=run["rss_bytes"],
        steady_bytes=steady["rss_bytes"],
    )


def _less(size: int | None, other: int | None) -> int | None:
    return None if size is None or other is None else size - other
