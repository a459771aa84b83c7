"""Threads: too many threads, parallel execution of a chain, spinning while idle."""

from __future__ import annotations

from workbench.core.models.graph import Graph
from workbench.core.text import counted
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Gain
from workbench.features.findings.rule import config_fix, rule

PARALLEL_WIDTH = 2.0
BUSY_TIMES = 1.5
WAITING_SHARE = 0.05  # of a run; less is no evidence
# How much longer shared nodes take with two threads a core or more than with one: the median of what was
# measured on two quiet cores. One machine: an encoder and mobilenetv2 with 4 threads 1.75 and 1.67, the
# encoder with 8 5.67 (its interval up to 6.42). Another one: convolutional nets with 8 and 16 threads 1.37
# and 1.91.
CROWDED = 1.75
CROWDED_MOST = 6.4
# The parallel mode on chains, on two quiet cores: 1.61 with a thread in each pool; with more threads than
# cores 2.6 (2.0 to 3.5), 2.8 and 2.9, and 19 and 28 beside other programs.
PARALLEL_SLOWER = 1.6
PARALLEL_CROWDED = 2.7
PARALLEL_MOST = 28.0
# A chain of 24 products, 2 threads, a pause of 5 ms: a run takes 5.1 ms of processor time spinning, 2.4
# without, 3.9 with 500 µs and 3.3 with 100 µs.
SHORTER = "between both is spinning for a shorter time: session.intra_op.spin_duration_us=500"
_BUSY = "beside other programs more threads get more of the cores; there fewer ran 0.5 to 1.1 times as fast"


@rule(
    "too-many-threads",
    recognised="more intra-op threads than cores that ORT may use, a container's quota counted",
    advice="use as many threads as there are usable cores",
    source="on 2 quiet cores 8 threads were 5.7 times slower (5.0 to 6.4) on one machine and 1.4 (1.0 to "
    "1.9) on another, 16 there 1.9 times, 4 threads 1.75 times; beside other programs 0.5 and 1.1 times",
)
def too_many_threads(evidence: Evidence) -> FindingRecords:
    """The session has more threads than usable cores."""
    threads = evidence.threads
    if threads is None or threads <= evidence.cores:
        return
    shared_s, waited_s = _shared(evidence)
    facts = [f"usable cores {evidence.machine.usable_cores}, quota {evidence.machine.quota_cores or 'none'}"]
    if evidence.sharing is not None:
        facts.append(f"nodes that share their work take {evidence.share_of(shared_s) * 100:.0f} % of a run")
    if evidence.share_of(waited_s) >= WAITING_SHARE:
        facts.append(f"the calling thread waits for others for {evidence.share_of(waited_s) * 100:.0f} %")
    gain = _uncertain(evidence, shared_s, crowded(threads / evidence.cores), CROWDED_MOST)
    text = f"use {evidence.cores}: intra_op_threads={evidence.cores}"
    yield finding(
        f"{threads} threads share {evidence.cores} usable core{'s' * (evidence.cores > 1)}",
        *facts,
        forecast=Forecast("maybe", gain),
        fix=config_fix(evidence, text, intra_op_threads=evidence.cores),
        caution=_BUSY,
    )


def crowded(threads_a_core: float) -> float:
    """Return how much longer shared nodes take; from two threads a core on it depends on machine and net."""
    return 1 + (CROWDED - 1) * min(1.0, threads_a_core - 1)


def _shared(evidence: Evidence) -> tuple[float, float]:
    """Return the time of a run in nodes that share their work, and of it that of waiting for other threads.

    Without statistics of the thread pool all nodes count.
    """
    if evidence.sharing is None:
        return evidence.run_s or 0.0, 0.0
    shared_s = waited_s = 0.0
    for node in evidence.sharing.nodes:
        if node.helpers and node.time_s:
            cost_s = evidence.cost_s(evidence.named((node.node,)))
            shared_s += cost_s
            waited_s += cost_s * min(1.0, node.wait_s / node.time_s)
    return shared_s, waited_s


def _uncertain(evidence: Evidence, part_s: float, slower: float, most: float) -> Gain:
    """Return the gain where part of a run is slower than needed, with an interval from nothing to `most`."""
    if not evidence.run_s:
        return Gain.unknown("time")
    part_s = min(part_s, evidence.run_s)
    saved_s = part_s * (1 - 1 / slower)
    return Gain("time", saved_s, 0.0, part_s * (1 - 1 / most), evidence.share_of(saved_s))


@rule(
    "parallel-chain",
    recognised="execution mode parallel on a graph whose branches are fewer than 2 wide on average",
    advice="use the sequential mode",
    source="on two quiet cores 1.6 times slower with one thread a pool, 2.6 (2.0 to 3.5) to 2.9 with more; "
    "19 and 28 times on a busy machine",
)
def parallel_chain(evidence: Evidence) -> FindingRecords:
    """Parallel execution mode runs a graph that is a chain."""
    config = evidence.config
    if config.execution_mode != "parallel":
        return
    width = _width(evidence.prepared)
    if width >= PARALLEL_WIDTH:
        return
    intra, inter = evidence.threads or evidence.cores, config.inter_op_threads or evidence.cores
    slower = PARALLEL_CROWDED if intra + inter - 1 > evidence.cores else PARALLEL_SLOWER
    text = "use the sequential mode, the default"
    yield finding(
        "The parallel execution mode has nothing to run in parallel",
        f"the graph is {width:.1f} nodes wide on average",
        forecast=Forecast("maybe", _uncertain(evidence, evidence.run_s or 0.0, slower, PARALLEL_MOST)),
        fix=config_fix(evidence, text, execution_mode=None, inter_op_threads=None),
        caution="setting inter_op_threads=1 alone does nothing in the sequential mode",
    )


@rule(
    "threads-past-the-knee",
    needs=("scaling",),
    recognised="fewer threads than in use are within 5 % of the best latency",
    advice="use the number at the knee, and leave the cores to others",
    source="a thread that adds nothing still takes processor time",
)
def threads_past_the_knee(evidence: Evidence) -> FindingRecords:
    """The session has more or fewer threads than the scan recommends."""
    scaling, threads = evidence.scaling, None if evidence.run is None else evidence.run.threads
    spinning = evidence.config.spinning is not False
    knee = None if scaling is None else scaling.knee(spinning=spinning)
    if scaling is None or knee is None or threads in (None, knee.threads):
        return
    points = [point for point in scaling.rows if point.spinning is spinning and point.latency_s]
    now = next((point for point in points if point.threads == threads), None)
    if now is None or now.latency_s is None or knee.latency_s is None:
        return
    saved_s = max(0.0, now.latency_s - knee.latency_s)
    yield finding(
        f"{counted(knee.threads, 'thread suits', 'threads suit')} this model better than {now.threads}",
        f"{knee.latency_s * 1e3:.3g} ms instead of {now.latency_s * 1e3:.3g} ms",
        forecast=Forecast("likely", evidence.time_gain(saved_s, "likely")),
        fix=config_fix(evidence, f"intra_op_threads={knee.threads}", intra_op_threads=knee.threads),
    )


@rule(
    "spinning-while-idle",
    needs=("run",),
    recognised="threads spin although runs are paced, and take 1.5 times the processor time of the run",
    advice="turn spinning off where processor time matters more than latency, or shorten it: "
    "session.intra_op.spin_duration_us",
    source="5 ms pacing: processor time 1.3 to 2.2 times less, latency 0.82 to 1.65 times",
)
def spinning_while_idle(evidence: Evidence) -> FindingRecords:
    """Threads spin while no request runs."""
    run = evidence.run
    if run is None or evidence.pacing_s is None:
        return
    if evidence.config.spinning is False or run.threads in (None, 1):
        return
    blocks = [block for block in run.blocks if block.own_cpu_s is not None]
    busy_s = sum(sum(block.samples_s) for block in blocks)
    cpu_s = sum(block.own_cpu_s or 0.0 for block in blocks)
    if not busy_s or cpu_s < BUSY_TIMES * busy_s:
        return
    yield finding(
        "Threads spin between requests",
        f"{cpu_s / busy_s:.1f} times the processor time of the runs themselves",
        forecast=Forecast.unknown("time", "maybe"),
        fix=config_fix(evidence, "turn it off: spinning=False", spinning=False),
        caution=f"a trade: it saves processor time, and a request may wait longer; {SHORTER}",
    )


def _width(graph: Graph) -> float:
    """Return the average number of nodes that can run at once: all nodes over the longest path."""
    depth: dict[str, int] = {}
    deepest = 1
    for node in graph.nodes:
        level = 1 + max((depth.get(name, 0) for name in node.reads), default=0)
        deepest = max(deepest, level)
        for name in node.outputs:
            depth[name] = level
    return len(graph.nodes) / deepest if graph.nodes else 0.0
