"""A profile with its figures, views and saved form."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.origin import Origin
from workbench.core.command import Command
from workbench.core.cpu import usable_cores
from workbench.core.feature import Feature
from workbench.core.text import in_ms
from workbench.drawing.chart import GREY, Axis, Chart, Look, Value, one_value, rows_left_out
from workbench.drawing.exportable import DrawnTable
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import MOST_NODES, attempt, figured, paragraph, plot, table
from workbench.drawing.palette import style_of_op_type
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.result import Result
from workbench.features.profile.examining import execute
from workbench.features.profile.memory.by_node import memory_of
from workbench.features.profile.memory.result import Memory
from workbench.features.profile.profiled_config import Sharing, sharing_of
from workbench.features.profile.roofline.node_limits import grouped, kinds_of, measured_roofline, roofline
from workbench.features.profile.roofline.peaks import PeakRow, machine_peaks
from workbench.features.profile.roofline.result import Roofline
from workbench.features.profile.saved import ProfileRecord, check, profile_of, record_of
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.session_profile import SessionProfile as Data
from workbench.features.profile.tables import BETWEEN_NODES, SCHEDULING

if TYPE_CHECKING:
    from workbench.features.profile.difference.traced import Traced
    from workbench.features.profile.flame.view import FlameView, Way


_MOST_OPS = 15


def op_type_chart(profile: SessionProfile) -> Chart:
    """Return a row for each op type: its own time in a run. Time of no node has grey rows."""
    table = profile.by("op_type")
    rows = []
    columns = (table[name].tolist() for name in ("op_type", "self_s", "share", "calls"))
    for name, own_s, share, calls in list(zip(*columns, strict=True))[:_MOST_OPS]:
        style = style_of_op_type(str(name))
        look = GREY if name in (BETWEEN_NODES, SCHEDULING) else Look(style.color, style.pattern)
        text = (
            f"{in_ms(own_s, 3)} ({share * 100:.1f} %)"
            if share is not None and share == share
            else "not known"
        )
        value = Value(own_s * 1e3, text, look, detail=f"{calls:.4g} calls a run")
        rows.append(one_value(str(name), value))
    axis = Axis("own time a run (ms)")
    title = f"Where the time of a run goes, by op type; shares of {profile.time_words}; {profile}"
    return Chart((title,), (axis,), tuple(rows), rows_left_out(len(table), len(rows), "op types"))


class Profile(Data, Result):
    """Where the time of a few executions goes. Made by `wb.profile` and `wb.read_profile`."""

    def __init__(self, *given: Any, about: Origin | None = None, **named: Any) -> None:
        Data.__init__(self, *given, **named)
        self.structure, self.parts, self._about = None, (), about

    @classmethod
    def of(cls, data: Data, about: Origin | None = None) -> Profile:
        """Make the same profile with figures, views and saving."""
        return cls(**data.arguments, about=about)

    @classmethod
    def reopened(cls, record: ProfileRecord, about: Origin | None = None, **_: Any) -> Profile:
        """Make the profile that a bundle holds."""
        return cls.of(profile_of(record), about)

    def measured_at(self, latency_s: Mapping[str, float], label: str | None) -> Profile:
        """Return the same shares of the latency that was measured without the profiler."""
        return self.scaled_to(latency_s.get(label or ""))

    @cached_property
    def saved(self) -> ProfileRecord:
        """The record as a bundle holds it: the trace's columns of its first runs, and its graph."""
        return record_of(self)

    def chart(self) -> Chart:
        """Return own time per run of each operator, gaps included."""
        return op_type_chart(self)

    op_type_figure = Result.figure

    def flame(self, way: Way | None = None) -> FlameView:
        """Show where the time goes, as boxes: by module, by operator, in time."""
        from workbench.features.profile.flame.view import flame_view

        return flame_view(self, way=way)

    def times_in(self, explained: Traced) -> dict[str, float]:
        """Return the seconds of a run by node of an explained graph."""
        from workbench.features.profile.difference.matching import in_the_names_of

        return in_the_names_of(explained, self).node_times_s()

    def sharing(self) -> Sharing:
        """Return how evenly the thread pool shared each node."""
        return sharing_of(self)

    def memory(self) -> Memory:
        """Return memory of the last run, node by node."""
        return Memory(memory_of(self), self._about)

    def roofline(self, peaks: PeakRow | None = None, *, cancel: threading.Event | None = None) -> Roofline:
        """Set each node against this machine's peaks, by default those with its config's threads."""
        config = None if self._about is None else self._about.config
        count = (config and config.intra_op_threads) or usable_cores()
        if peaks is not None:
            return Roofline(roofline(self, peaks), self._about)
        measured = measured_roofline(self, lambda again: machine_peaks(count, again=again, cancel=cancel))
        return Roofline(measured, self._about)

    def conv_kinds(self, roofline: Roofline) -> DrawnTable:
        """Return operations beside time for each kind of convolution: depthwise, 1×1, larger, the rest."""
        kinds = {} if self.optimized is None else kinds_of(self.optimized)
        return grouped(roofline.record.nodes, kinds)

    def document(self) -> Document:
        """Return the page: where the time goes, memory."""

        def memory() -> str:
            by_node = self.memory()
            return paragraph(str(by_node)) + figured(by_node, most=MOST_NODES)

        name = "A trace" if self.about.model is None else self.about.model.name
        page = Document(f"{name}: where the time goes", paragraph(str(self)))
        self.add_time(page)
        page.add("memory", "Memory", attempt(memory))
        self._add_origin(page)
        return page

    def add_time(self, page: Document) -> None:
        """Add where the time goes, as a flame and as tables."""
        flame = attempt(lambda: page.view(self.flame()))
        body = flame + plot(self.op_type_figure(), "Own time by op type")
        body += table(self.by("op_type"), "By op type")
        body += table(self.by("scope"), "By module", most=MOST_NODES)
        body += table(self.to_frame(), "By node", most=MOST_NODES)
        page.add("time", "Where the time goes", body)

    def _in_words(self) -> str:
        return Data.__str__(self)

    __str__ = Result.__str__


def examine(run: ExaminedRun) -> ProfileRecord:
    """Run the config of the run for a moment with ORT's profiler on."""
    run.runnable()
    run.announce("profile")
    return record_of(execute(run))


def rows_by(
    result: Profile, by: Literal["op_type", "node", "scope", "provider", "thread"] = "op_type"
) -> DataFrame:
    """Return the times by operator, or by what was asked for."""
    return result.to_frame() if by == "node" else result.by(by)


FEATURE = Feature(
    "profile",
    ProfileRecord,
    check,
    result=Profile,
    per="run",
    call="workbench.features.profile.calls:profile",
    takes=("inputs", "seed", "calibration", "keep"),
    examine=examine,
    title="flame",
    cards="workbench.features.profile.cards:cards",
    button="Profile A and B",
    hint="Where the time goes, with ORT's profiler on; never used for latency",
    effort=(1.0, 4, 60),
    next_question=(5, "any", "Where does the time go?"),
    tabs=("Where time goes", "What ORT did"),
    key="node",
    command=Command(
        example="bert-base --by node --keep-trace trace.json",
        hints={
            "budget_s": "seconds of runs",
            "keep_trace": "keep the file that ORT wrote",
            "per_node_memory": "ask for the memory of each node, too",
            "by": "a row for each of these",
        },
        rows=rows_by,
    ),
)
