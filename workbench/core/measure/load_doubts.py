"""Doubts about load: the effect of other programs, other guests, heat and quotas while measuring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.core.bundle.comparison import Doubt
from workbench.core.bundle.machine import Machine
from workbench.core.bundle.run import Block, Run
from workbench.core.measure.counters import Counters

DISTURBED_SHARE = 0.10  # share of the blocks
STEAL_SHARE = 0.02
MORE_TIME = "give more time: result.measure_more(budget_s=30)"
OWN_FIX = f"close other programs and notebooks and measure again, or {MORE_TIME}"
SHARED_FIX = (
    "the load is other users': give more time with result.measure_more(budget_s=60), give both configs "
    'intra_op_threads=1, or compare processor time with clock="cpu"'
)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances of a comparison: the machine, its counters meanwhile, and the software."""

    machine: Machine
    counters: Counters
    elapsed_s: float
    software: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # software versions by label
    on_battery: bool = False
    shared: bool = False  # other users' programs, which this user cannot close: a hub
    default_s: float | None = None  # the default budget, if measuring took longer; None: it did not
    stopped: bool = False  # on request, before the answer was settled

    @property
    def is_stolen_from(self) -> bool:
        """Return whether the hypervisor ran other guests on this machine's cores."""
        steal_s = self.counters.steal_s
        return steal_s is not None and self.elapsed_s > 0 and steal_s / self.elapsed_s > STEAL_SHARE

    @property
    def load_fix(self) -> str:
        """Return the user's remedy for other load."""
        return SHARED_FIX if self.shared or self.is_stolen_from else OWN_FIX


def other_load(runs: Sequence[Run], circumstances: Circumstances) -> Iterable[Doubt]:
    """Yield doubts about other work on this machine while the blocks ran."""
    blocks = [block for run in runs for block in run.blocks]
    if not blocks:
        return
    if all(block.run_delay_s is None and block.others_cpu_s is None for block in blocks):
        yield Doubt(
            "other load",
            None,
            "this system does not report what other processes use, so disturbed blocks could not be found",
            "close other programs while measuring, or measure on Linux",
        )
        return
    if all(block.others_cpu_s is None for block in blocks):
        yield Doubt(
            "other load",
            None,
            "this container hides the machine's other processes: only blocks that waited long for a core "
            "could be found",
            "measure outside of the container, or start it with the host's process namespace",
        )
    disturbed = [block for block in blocks if block.disturbed]
    if len(disturbed) <= DISTURBED_SHARE * len(blocks):
        return
    share = f"{len(disturbed)} of {len(blocks)} blocks were disturbed"
    cores = _others_cores(disturbed, circumstances.machine)
    if runs[0].population == "all":
        busy = "" if cores is None else f": {cores:.1f} other cores"
        longer = ""
        if circumstances.default_s is not None:
            seconds, default = round(circumstances.elapsed_s), round(circumstances.default_s)
            longer = f", for {seconds} s because the answer was open after {default} s"
        evidence = f"measured on a busy machine{busy}{longer}; {share}, and they count too"
    else:
        used = "" if cores is None else f"; others used {cores:.1f} cores meanwhile"
        evidence = f"{len(disturbed)} of {len(blocks)} blocks are excluded because the machine was busy{used}"
    yield Doubt("other load", None, evidence, circumstances.load_fix)


def _others_cores(blocks: Sequence[Block], machine: Machine) -> float | None:
    """Return how many cores others used during these blocks, at most all of them."""
    known = [(block.others_cpu_s, block.wall_s) for block in blocks if block.others_cpu_s is not None]
    wall_s = sum(wall for _, wall in known)
    if wall_s <= 0:
        return None
    return min(sum(others for others, _ in known) / wall_s, float(machine.usable_cores))


def counted(circumstances: Circumstances) -> Iterable[Doubt]:
    """Yield doubts from what the system reports: stolen time, heat, the battery, quotas."""
    counters = circumstances.counters
    if circumstances.is_stolen_from and counters.steal_s is not None:
        yield Doubt(
            "steal",
            None,
            f"the hypervisor gave {counters.steal_s / circumstances.elapsed_s * 100:.0f} % of a core to "
            "other guests",
            SHARED_FIX,
        )
    if counters.thermal_throttles:
        yield Doubt(
            "throttling",
            None,
            f"the processor slowed down {counters.thermal_throttles} times because of heat",
            "let it cool, or measure with fewer threads",
        )
    if circumstances.on_battery:
        yield Doubt(
            "battery",
            None,
            "the machine runs on its battery, so its clock may be lower than usual and change meanwhile",
            "plug it in, then measure again",
        )
    if counters.quota_throttles:
        yield Doubt(
            "quota",
            None,
            f"the container's CPU quota stopped work {counters.quota_throttles} times while measuring",
            "set intra_op_threads to the quota or below, or raise the quota",
        )
