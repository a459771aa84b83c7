"""What limits a run: memory, the machine's peaks, starting, threads; as notebooks hold them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.analysis.cold_start import ColdStartRecord
from workbench.analysis.memory.by_node import MemoryRecord
from workbench.analysis.memory.settings import MemorySettingsRecord
from workbench.analysis.roofline.node_limits import RooflineRecord
from workbench.analysis.roofline.peaks import PeakRow, PeakTable
from workbench.analysis.threads.scaling import ThreadScalingRecord
from workbench.errors import WorkbenchError
from workbench.records.kinds import Part
from workbench.results.result import Result
from workbench.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene


FIRST = "A"  # the label of a main record that tells none


class OfRuns(Result):
    """A record a run: the first is the main one of its bundle, the others are its parts, named by label."""

    kind: ClassVar[str]

    @property
    def by_label(self) -> dict[str, Any]:
        """The record of each run."""
        return dict(self._labelled())

    def _labelled(self) -> Iterator[tuple[str, Any]]:
        own = [part for part in self.parts if part.kind == self.kind]
        if all(part.label for part in own):
            yield str(getattr(self.record, "label", "") or FIRST), self.record
        for part in own:
            if part.label:
                yield part.label, part.record

    @classmethod
    def of(cls, found: dict[str, Any], **about: Any) -> Any:
        """From records by label."""
        if not found:
            raise WorkbenchError(f"There is no {cls.kind} to show.", "Give at least one run.")
        first, *others = found
        main, named = found[first], [f"{cls.kind}/{label}" for label in others]
        if first != FIRST:  # the baseline failed: a part without a label says that all labels stand beside
            named = [cls.kind, *(f"{cls.kind}/{label}" for label in found)]
        records = [found.get(name.partition("/")[2], main) for name in named]
        parts = tuple(Part(name, record, None) for name, record in zip(named, records, strict=True))
        return cls(main, parts=parts, **about)

    def to_frame(self) -> pd.DataFrame:
        """All runs, with a column `label`."""
        import pandas as pd

        frames = [
            record.to_frame().drop(columns="label", errors="ignore") for record in self.by_label.values()
        ]
        for frame, label in zip(frames, self.by_label, strict=True):
            frame.insert(0, "label", label)
        found: pd.DataFrame = pd.concat(frames, ignore_index=True)
        return found

    def __str__(self) -> str:
        if len(self.by_label) == 1:
            return str(self.record)
        return "\n".join(f"{label}: {record}" for label, record in self.by_label.items())


class Memory(OfRuns):
    """Memory over one run, node by node. Made by `wb.memory`.

    >>> import workbench as wb
    >>> wb.Memory.__name__
    'Memory'
    """

    kind = "memory"
    record: MemoryRecord

    def figure(self) -> go.Figure | None:
        """Over the nodes of the run; several runs side by side."""
        from workbench.figures.memory import memory_figure

        return memory_figure(self.by_label)

    def still(self) -> Scene:
        """The totals of each run."""
        from workbench.figures.pictures import memory_scene

        return memory_scene(self.by_label)


class Roofline(OfRuns):
    """Each node's time against the least that this machine needs. Made by `wb.roofline`.

    >>> import workbench as wb
    >>> wb.Roofline.__name__
    'Roofline'
    """

    kind = "roofline"
    record: RooflineRecord

    def figure(self) -> go.Figure | None:
        """A point a node; several runs side by side, on the same axes."""
        from workbench.figures.roofline import roofline_figure

        return roofline_figure(self.by_label)

    def still(self) -> Scene:
        """The slowest nodes of each run and their limits."""
        from workbench.figures.pictures import roofline_scene

        return roofline_scene(self.by_label)


class ColdStarts(OfRuns):
    """Configs from no process to a steady one. Made by `wb.cold_start`.

    >>> import workbench as wb
    >>> wb.ColdStarts.__name__
    'ColdStarts'
    """

    kind = "cold start"
    record: ColdStartRecord

    def figure(self) -> go.Figure:
        """The steps of each run, stacked."""
        from workbench.figures.coldstart import cold_start_figure

        return cold_start_figure(list(self.by_label.values()))

    @property
    def starts(self) -> tuple[ColdStartRecord, ...]:
        """One a config."""
        return tuple(self.by_label.values())

    def still(self) -> Scene:
        """The steps side by side."""
        from workbench.figures.pictures import cold_start_scene

        return cold_start_scene(list(self.by_label.values()))

    def __str__(self) -> str:
        return "\n".join(map(str, self.starts))  # each says its label, and what saving ahead is worth


class Peaks(Result):
    """The best that ORT reaches on this machine, a row a thread count. Made by `wb.peaks`.

    >>> import workbench as wb
    >>> wb.Peaks.__name__
    'Peaks'
    """

    record: PeakTable

    @property
    def rows(self) -> tuple[PeakRow, ...]:
        """One a thread count."""
        return self.record.rows

    def still(self) -> Scene:
        """As bars."""
        from workbench.figures.pictures import peaks_scene

        return peaks_scene(self.record)

    def __str__(self) -> str:
        return "; ".join(
            f"{counted(row.threads, 'thread')}: float32 {_giga(row.float32_flops, 'GFLOP/s')}, "
            f"int8 {_giga(row.int8_flops, 'GOP/s')}, copying {_giga(row.bytes_per_s, 'GB/s')}"
            for row in self.record.rows
        )


class MemorySettings(Result):
    """Memory pattern, arena and prepacking, each turned over alone. Made by `wb.memory_settings`.

    >>> import workbench as wb
    >>> wb.MemorySettings.__name__
    'MemorySettings'
    """

    record: MemorySettingsRecord

    def figure(self) -> go.Figure:
        """Memory and latency of each."""
        from workbench.figures.memory_settings import memory_settings_figure

        return memory_settings_figure(self.record)

    def still(self) -> Scene:
        """Memory at the peak of each."""
        from workbench.figures.pictures import memory_settings_scene

        return memory_settings_scene(self.record)


class Threads(Result):
    """Latency and processor time against thread counts. Made by `wb.threads`.

    >>> import workbench as wb
    >>> wb.Threads.__name__
    'Threads'
    """

    record: ThreadScalingRecord

    def figure(self) -> go.Figure:
        """Both, the knee marked."""
        from workbench.figures.threads import threads_figure

        return threads_figure(self.record)

    def still(self) -> Scene:
        """Latency as bars."""
        from workbench.figures.pictures import threads_scene

        return threads_scene(self.record)


def _giga(rate: float | None, unit: str) -> str:
    return "not measured" if rate is None else f"{rate / 1e9:,.1f} {unit}"
