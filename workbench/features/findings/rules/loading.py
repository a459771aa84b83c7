"""Load time, first runs and memory."""

from __future__ import annotations

from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix, Gain
from workbench.features.findings.rule import config_fix, rule

SLOW_LOAD_S = 1.0
LOAD_RUNS = 100
OPTIMIZING_SHARE = 0.30
_FIRST_RUN_TIMES = 5
ARENA_TIMES = 2.0
LEAST_MEMORY_BYTES = 20 << 20
PREPACK_SHARE = 0.8
PEAK_SHARE = 0.5
TEMPORARY_SHARE = 0.3
_APART = "session.optimized_model_external_initializers_file_name"
WEIGHTS_FILE = "weights.bin"
MAPPED = (
    "the saved file suits this processor only; several processes share packed weights too with "
    "session.save_external_prepacked_constant_initializers=1, though each then maps more; "
    "session.disable_prepacking=1 needs no file, and runs get slower"
)
ROUNDED_TIMES = 2  # the arena hands out a block whole unless it is at least twice as large as asked


@rule(
    "slow-load",
    needs=("cold",),
    recognised="loading takes 1 s or 100 runs, and 30 % of it is spent on optimizing the graph",
    advice="save the optimized graph once: saved_graph='onnx' or 'ort'",
    source="resnet50: 0.23 to 0.022 s",
)
def slow_load(evidence: Evidence) -> FindingRecords:
    """Graph optimization takes most of every load."""
    cold = evidence.cold
    if cold is None or evidence.config.saved_graph is not None:
        return
    optimize_s, steady_s = cold.optimize_s, cold.as_asked[0].steady_s if cold.as_asked else 0.0
    is_slow = cold.load_s >= SLOW_LOAD_S or (steady_s and cold.load_s >= LOAD_RUNS * steady_s)
    if optimize_s is None or not is_slow or optimize_s < OPTIMIZING_SHARE * cold.load_s:
        return
    share = min(1.0, optimize_s / cold.load_s)
    yield finding(
        f"{share * 100:.0f} % of the load is spent on optimizing the graph",
        f"the load takes {cold.load_s:.2g} s, of which optimizing {optimize_s:.2g} s",
        forecast=Forecast("sure", Gain("load", optimize_s, optimize_s * 0.7, optimize_s, share)),
        fix=config_fix(
            evidence, "save the optimized graph once and load that: saved_graph='onnx'", saved_graph="onnx"
        ),
        caution="the saved file suits this processor only",
    )


@rule(
    "slow-first-run",
    needs=("run",),
    recognised="the first run takes 5 times a later one",
    advice="run once before the first request",
    source="buffers are planned and memory is fetched in the first run",
)
def slow_first_run(evidence: Evidence) -> FindingRecords:
    """The first run is slow."""
    first_s = None if evidence.run is None else evidence.run.first_run_s
    if first_s is None or not evidence.run_s or first_s < _FIRST_RUN_TIMES * evidence.run_s:
        return
    yield finding(
        f"The first run takes {first_s / evidence.run_s:.0f} times a later one",
        f"{first_s * 1e3:.3g} ms against {evidence.run_s * 1e3:.3g} ms",
        forecast=Forecast("sure", Gain("load", first_s - evidence.run_s, None, None, None)),
        fix=Fix("note", "run once before the first request", code="session.run(None, inputs)"),
    )


@rule(
    "arena-holds-memory",
    needs=("memory",),
    recognised="the arena holds at least twice what it needs at the peak, and 20 MiB more",
    advice="bucket input sizes; measure before turning the arena off",
    source="large outputs ran at 0.58 times without the arena, and the memory went up",
)
def arena_holds_memory(evidence: Evidence) -> FindingRecords:
    """The memory arena holds more than the model needs."""
    memory = evidence.memory
    if memory is None or memory.arena_held_bytes is None or not memory.arena_peak_bytes:
        return
    spare = memory.arena_held_bytes - memory.arena_peak_bytes
    if memory.arena_held_bytes < ARENA_TIMES * memory.arena_peak_bytes or spare < LEAST_MEMORY_BYTES:
        return
    yield finding(
        f"The arena holds {memory.arena_held_bytes / (1 << 20):,.0f} MiB and needs at most "
        f"{memory.arena_peak_bytes / (1 << 20):,.0f}",
        forecast=Forecast.of_memory(spare, spare / memory.arena_held_bytes, "maybe"),
        fix=config_fix(evidence, "turn the arena off and measure: cpu_arena=False", cpu_arena=False),
        caution="without it large outputs are mapped anew in each run; kSameAsRequested does not help either",
    )


@rule(
    "prepacking-doubles-weights",
    needs=("cold", "memory"),
    recognised="packing the weights for the kernels adds at least 80 % of their size to the memory",
    advice="save the graph with its weights in a file of their own, which ORT maps; or a trade: do not pack, "
    "with slower runs",
    source="eight products of 1500 by 1500: 54 MiB less with either, runs as fast with mapped weights, "
    "1.7 times slower unpacked; BERT-base unpacked: 20 MiB less at 43 % more time; resnet50: nothing saved",
)
def prepacking_doubles_weights(evidence: Evidence) -> FindingRecords:
    """Weights are in memory twice: as stored, and packed for the kernels."""
    cold, memory = evidence.cold, evidence.memory
    packed = None if cold is None else cold.prepack_bytes
    weights = None if memory is None else memory.weights_bytes
    if packed is None or not weights or packed < PREPACK_SHARE * weights or packed < LEAST_MEMORY_BYTES:
        return
    mapped = _mapped_weights(evidence)
    yield finding(
        f"Packed weights take another {packed / (1 << 20):,.0f} MiB",
        f"the weights themselves take {weights / (1 << 20):,.0f} MiB",
        forecast=Forecast.of_memory(packed, min(1.0, packed / (packed + weights)), "maybe"),
        fix=mapped
        or config_fix(
            evidence,
            "do not pack them: session.disable_prepacking=1",
            session_entries={**dict(evidence.config.session_entries), "session.disable_prepacking": "1"},
        ),
        caution=MAPPED if mapped else "runs get slower",
    )


def _mapped_weights(evidence: Evidence) -> Fix | None:
    """Return the fix that saves the weights in a file of their own; None where they are, or cannot be."""
    config = evidence.config
    is_apart = any(tensor.external_data for tensor in evidence.structure.graph.initializer)
    if not evidence.on_cpu or config.saved_graph is not None or is_apart:
        return None
    return config_fix(
        evidence,
        f"save the graph with its weights in a file that ORT maps: saved_graph='onnx' and {_APART}",
        saved_graph="onnx",
        session_entries={**dict(config.session_entries), _APART: WEIGHTS_FILE},
    )


@rule(
    "one-node-makes-the-peak",
    needs=("memory",),
    recognised="around one node the live activations are twice those around the median one, and 20 MiB more",
    advice="compute it in parts: smaller batches, tiles, shorter sequences",
    source="the square of attention scores and upsampled images make such peaks",
)
def one_node_makes_the_peak(evidence: Evidence) -> FindingRecords:
    """The activations around one node make the peak of the memory."""
    nodes = [] if evidence.memory is None else [n for n in evidence.memory.nodes if n.live_bytes is not None]
    sizes = sorted(node.live_bytes or 0 for node in nodes)
    if not sizes:
        return
    peak, usual = sizes[-1], sizes[len(sizes) // 2]
    if usual > PEAK_SHARE * peak or peak - usual < LEAST_MEMORY_BYTES:
        return
    worst = [node for node in nodes if node.live_bytes == peak]
    names = [node.node for node in worst]
    yield finding(
        f"Activations take {peak / (1 << 20):,.0f} MiB around one node, elsewhere {usual / (1 << 20):,.0f}",
        *(f"{node.op_type or 'a node'} {node.node[:60]}" for node in worst[:3]),
        forecast=Forecast.of_memory(peak - usual, (peak - usual) / peak, "likely", names),
        fix=Fix("note", "compute it in parts: smaller batches, tiles, shorter sequences"),
    )


@rule(
    "scratch-memory",
    needs=("memory",),
    recognised="a node takes scratch memory of 30 % of the peak, 20 MiB or more, and more than its outputs",
    advice="for convolutions, let them use the blocked layout, which needs none",
    source="convolutions outside of the blocked layout copy patches of the image into a matrix (im2col)",
)
def scratch_memory(evidence: Evidence) -> FindingRecords:
    """Nodes take much scratch memory beyond their outputs."""
    memory = evidence.memory
    peak = None if memory is None else memory.arena_peak_bytes
    if memory is None or not peak:
        return
    heavy = [node for node in memory.nodes if (node.temporary_bytes or 0) >= TEMPORARY_SHARE * peak]
    heavy = [node for node in heavy if (node.temporary_bytes or 0) >= LEAST_MEMORY_BYTES]
    heavy = [node for node in heavy if (node.allocated_bytes or 0) > ROUNDED_TIMES * (node.output_bytes or 0)]
    if not heavy:
        return
    most = max(node.temporary_bytes or 0 for node in heavy)
    names = [node.node for node in heavy]
    yield finding(
        f"{len(heavy)} node{'s' * (len(heavy) > 1)} take up to {most / (1 << 20):,.0f} MiB of scratch memory",
        *(f"{node.op_type or 'a node'} {node.node[:60]}" for node in heavy[:3]),
        forecast=Forecast.of_memory(most, min(1.0, most / peak), "likely", names),
        fix=Fix("note", "see the findings on the blocked layout; smaller images or batches need less"),
    )
