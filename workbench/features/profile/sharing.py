"""How evenly the thread pool shared each node of a profile, from ORT's scheduling statistics."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.trace import Scheduling, node_name

WAITING = 0.10  # of a node's time: more means that the calling thread finished well before the others
HANDING_OUT = 0.10
SERIAL = 0.5  # of a node's time in parallel sections; less means that most of it ran on one thread


@dataclass(frozen=True, slots=True)
class NodeSharing:
    """One node over all counted runs; times are of the thread that called it."""

    node: str
    op_type: str | None
    calls: int  # with scheduling statistics
    time_s: float
    run_s: float  # of the calling thread on its part
    wait_s: float  # for the other threads
    distribute_s: float  # handing the work out
    helpers: int  # other threads of the pool
    helped: float | None  # the share of these that took any work; None: there are none

    @property
    def words(self) -> str:
        """The meaning of the figures, in short."""
        if not self.time_s:
            return "too short to measure"
        if self.helped is None:
            return "runs on one thread, as configured"
        if self.helped == 0:
            return "runs on one thread: too small or not made to be split, so more threads do not help it"
        idle, waiting, handing = 1 - self.helped, self.wait_s / self.time_s, self.distribute_s / self.time_s
        parallel = self.run_s / self.time_s + waiting + handing
        parts = (
            (idle > 0, f"{idle * 100:.0f} % of the other threads' turns took no work"),
            (waiting > WAITING, f"uneven: the caller waits {waiting * 100:.0f} % of the time for others"),
            (handing > HANDING_OUT, f"handing out the work takes {handing * 100:.0f} %: pieces too small"),
            (parallel < SERIAL, "most of it lies outside of parallel sections"),
        )
        return "; ".join(words for applies, words in parts if applies) or "shared evenly"


@dataclass(frozen=True, slots=True)
class Sharing:
    """Every node with scheduling statistics, slowest first."""

    nodes: tuple[NodeSharing, ...]

    def to_frame(self) -> DataFrame:
        """One row per node, with its `words`."""
        return frame_of(self.nodes, (*NodeSharing.__dataclass_fields__, "words"))


def sharing_of(profile: SessionProfile) -> Sharing:
    """Sum the statistics by node; ORT writes them for parallel sections of 1 µs and more."""
    trace = profile.trace
    counted = set(profile.measured.events.tolist())
    by_node: dict[str, list[Scheduling]] = {}
    for record in trace.scheduling:
        if record.event in counted:
            by_node.setdefault(node_name(trace.name_of(record.event)), []).append(record)
    nodes = []
    for name, records in by_node.items():
        call = trace.call_of(records[-1].event)
        helping = [count > 0 for record in records for count in record.others_ran]
        nodes.append(
            NodeSharing(
                node=name,
                op_type=None if call is None else call.op_type,
                calls=len(records),
                time_s=sum(float(trace.duration_us[record.event]) for record in records) / 1e6,
                run_s=sum(record.run_us for record in records) / 1e6,
                wait_s=sum(record.wait_us for record in records) / 1e6,
                distribute_s=sum(record.distribute_us for record in records) / 1e6,
                helpers=round(len(helping) / len(records)),
                helped=sum(helping) / len(helping) if helping else None,
            )
        )
    return Sharing(tuple(sorted(nodes, key=lambda node: -node.time_s)))
