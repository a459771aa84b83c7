"""The starts of fresh processes, step by step, and what packing and a saved graph are worth in them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.errors import BundleError
from workbench.core.text import in_ms

Way = Literal["as_asked", "without_prepacking", "saved_ahead", "without_saving"]
WAYS: tuple[Way, ...] = ("as_asked", "without_prepacking", "saved_ahead", "without_saving")
_MEMORY = (
    ("process start", "bare_bytes"),
    ("import", "import_bytes"),
    ("load", "load_bytes"),
    ("first run", "run_bytes"),
    ("steady run", "steady_bytes"),
)


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

    def to_frame(self) -> DataFrame:
        """One row per way of starting: medians of the steps and of resident memory after them.

        `saved_graph` is "hit" or "miss" where the config loads a graph of the cache, `saves_s` what it saves.
        """
        names = ProcessStart.__dataclass_fields__
        saved = None if self.saved is None else "hit" if self.saved.hit else "miss"
        graphs: dict[Way, dict[str, Any]] = {"as_asked": {"saved_graph": saved, "saves_s": self.saves_s}}
        absent = dict.fromkeys(("saved_graph", "saves_s"))
        frame = data_frame(
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


def _less(size: int | None, other: int | None) -> int | None:
    return None if size is None or other is None else size - other
