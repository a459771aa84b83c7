"""How the nodes of a profile shared the thread pool, from ORT's scheduling statistics, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.analysis.profile.profile import Profile
from workbench.analysis.profile.tree import node_name

if TYPE_CHECKING:
    import pandas as pd

WAITING = 0.10  # of a node's time: more means that the calling thread finished well before the others
HANDING_OUT = 0.10
SERIAL = 0.5  # of a node's time in parallel sections; less means that most of it ran on one thread


@dataclass(frozen=True, slots=True)
class NodeSharing:
    """One node over all counted runs; times are of the thread that called it."""

    node: str
    op_type: str | None
    calls: int  # that told anything
    time_s: float
    run_s: float  # working on its part
    wait_s: float  # for the others to finish theirs
    distribute_s: float  # handing the work out
    helpers: int  # other threads of the pool
    helped: float | None  # of these, the share that took any work; None: there are none

    @property
    def words(self) -> str:
        """What that means, shortly."""
        if not self.time_s:
            return "too short to tell"
        if self.helped is None:
            return "runs on one thread, as configured"
        if self.helped == 0:
            return "runs on one thread: too small or not made to be split, so more threads do not help it"
        parts = []
        if self.helped < 1:
            parts.append(f"{(1 - self.helped) * 100:.0f} % of the other threads' turns took no work")
        if self.wait_s > WAITING * self.time_s:
            parts.append(
                f"uneven: the caller waits {self.wait_s / self.time_s * 100:.0f} % of the time for others"
            )
        if self.distribute_s > HANDING_OUT * self.time_s:
            parts.append(
                f"handing out the work takes {self.distribute_s / self.time_s * 100:.0f} %: pieces too small"
            )
        if self.run_s + self.wait_s + self.distribute_s < SERIAL * self.time_s:
            parts.append("most of it lies outside of parallel sections")
        return "; ".join(parts) or "shared evenly"


@dataclass(frozen=True, slots=True)
class Sharing:
    """Every node that told anything, slowest first."""

    nodes: tuple[NodeSharing, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row a node with its words."""
        import pandas as pd

        names = (*NodeSharing.__dataclass_fields__, "words")
        return pd.DataFrame({name: [getattr(each, name) for each in self.nodes] for name in names})


def sharing_of(profile: Profile) -> Sharing:
    """Only calls with a parallel section long enough to be timed (1 µs) tell anything."""
    trace = profile.trace
    counted = set(profile.measured.events.tolist())
    sums: dict[str, list[float]] = {}
    kinds: dict[str, str | None] = {}
    for each in trace.scheduling:
        if each.event not in counted:
            continue
        name = node_name(trace.name_of(each.event))
        call = trace.call_of(each.event)
        kinds[name] = None if call is None else call.op_type
        row = sums.setdefault(name, [0.0] * 7)
        duration = float(trace.duration_us[each.event])
        helping = sum(1 for count in each.others_ran if count > 0)
        new = (1, duration, each.run_us, each.wait_us, each.distribute_us, len(each.others_ran), helping)
        sums[name] = [old + more for old, more in zip(row, new, strict=True)]
    nodes = [
        NodeSharing(
            node=name,
            op_type=kinds[name],
            calls=int(calls),
            time_s=time / 1e6,
            run_s=run / 1e6,
            wait_s=wait / 1e6,
            distribute_s=distribute / 1e6,
            helpers=round(turns / calls),
            helped=helping / turns if turns else None,
        )
        for name, (calls, time, run, wait, distribute, turns, helping) in sums.items()
    ]
    return Sharing(tuple(sorted(nodes, key=lambda node: -node.time_s)))
