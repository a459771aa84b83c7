"""Shapes computed in every run, and time between nodes."""

from __future__ import annotations

import math

from workbench.core.models.declared import TensorType, declared_inputs
from workbench.core.text import counted
from workbench.features.findings.evidence import DISPATCH_S, Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import config_fix, rule, without_passes

SHAPE_OPERATORS = ("Shape", "Gather", "Unsqueeze", "Squeeze", "Concat", "Slice", "Cast", "Range", "Expand")
SHAPE_NODE_SHARE = 0.25
SHAPE_TIME_SHARE = 0.05
TINY_NODE_S = 5e-6
MANY_NODES = 20
BY_VALUE = ("NonZero", "NonMaxSuppression", "Unique", "Compress", "If")


@rule(
    "shape-arithmetic",
    needs=("profiled",),
    recognised="a quarter of the nodes compute shapes and take at least 5 % of a run, with free dimensions",
    advice="fix the dimensions that never vary; measure it together with SkipLayerNormFusion left out",
    source="fixing alone was 0.86 times where it turned SkipLayerNormFusion on",
)
def shape_arithmetic(evidence: Evidence) -> FindingRecords:
    """Shapes are computed again in every run."""
    dims = _free_dims(evidence)
    if evidence.profiled is None or not dims or evidence.config.free_dimensions:
        return
    small = [node for node in evidence.of("Shape", *SHAPE_OPERATORS) if _is_small(evidence, node.node)]
    share = len(small) / max(1, len(evidence.profiled.nodes))
    if not evidence.of("Shape") or share < SHAPE_NODE_SHARE or evidence.share(small) < SHAPE_TIME_SHARE:
        return
    sizes = {name: size for name, size in evidence.sizes if name in dims}
    fix = Fix("export", f"export with fixed sizes for {', '.join(dims)}")
    if len(sizes) == len(dims):
        fix = config_fix(
            evidence,
            "fix the sizes as measured, and leave SkipLayerNormFusion out, which known sizes turn on",
            free_dimensions=sizes,
            disabled_passes=without_passes(evidence, "SkipLayerNormFusion"),
        )
    yield finding(
        f"{counted(len(small), 'node computes', 'nodes compute')} shapes in every run",
        f"they take {evidence.percent(small)} of a run",
        f"free dimensions: {', '.join(dims)}",
        forecast=evidence.saving(small, 1, "maybe"),
        fix=fix,
        caution="the model then takes one size only",
    )


@rule(
    "time-between-nodes",
    needs=("profiled",),
    recognised="20 nodes or more take less than 5 µs each on average",
    advice="batch requests, use one thread, fuse more",
    source="the same threshold as NVIDIA's advice for kernels of under 5 µs",
)
def time_between_nodes(evidence: Evidence) -> FindingRecords:
    """Much of the time passes between nodes."""
    profiled, run_s = evidence.profiled, evidence.run_s
    count = 0 if profiled is None else len(profiled.nodes)
    if not run_s or count < MANY_NODES or run_s > count * TINY_NODE_S or evidence.threads == 1:
        return
    between_s = min(count * DISPATCH_S, 0.5 * run_s)
    text = "use one thread: small nodes cost more to share than to compute"
    yield finding(
        f"{count} nodes take {run_s / count * 1e6:.2g} µs each on average",
        f"starting a node takes about {DISPATCH_S * 1e6:.1g} µs beside its kernel",
        forecast=Forecast("maybe", evidence.time_gain(between_s * 0.3, "maybe")),
        fix=config_fix(evidence, text, intra_op_threads=1),
        caution="larger batches need the threads",
    )


@rule(
    "larger-shapes-later",
    recognised="several inputs with different sizes, the largest of which is not the first",
    advice="run the largest size first, once, before the first request",
    source="the arena then grows once; memory_pattern=False changed nothing (12.6 MiB with both)",
)
def larger_shapes_later(evidence: Evidence) -> FindingRecords:
    """Sizes vary, and larger ones come later, so that memory grows step by step."""
    totals = [math.prod(size for _, size in sizes) for sizes in evidence.feed_sizes]
    if len(set(totals)) < 2 or totals[0] == max(totals):
        return
    largest = evidence.feed_sizes[totals.index(max(totals))]
    sizes = ", ".join(f"{name[:40]}={size}" for name, size in largest)
    yield finding(
        f"The inputs have {len(set(totals))} sizes, and larger ones come later",
        f"the largest: {sizes}",
        "each larger size takes new memory in the middle of serving",
        forecast=Forecast.unknown("load", "likely"),
        fix=Fix(
            "note", "run the largest size once before the first request", code="session.run(None, largest)"
        ),
    )


@rule(
    "random-values-decide",
    recognised="random inputs of a model with NonZero, NonMaxSuppression, If or an operator of their kind",
    advice="measure with real inputs: inputs='examples.npz'",
    source="what these operators give depends on values, and so does the time of all behind them",
)
def random_values_decide(evidence: Evidence) -> FindingRecords:
    """The time depends on the values of the inputs, and these are random."""
    nodes = [node for node in evidence.prepared.nodes if node.op_type in BY_VALUE]
    if not nodes or not evidence.random_inputs:
        return
    kinds = ", ".join(sorted({node.op_type for node in nodes}))
    yield finding(
        f"The time may depend on values, and the inputs are random ({kinds})",
        forecast=Forecast.unknown("correctness", "maybe", nodes),
        fix=Fix("note", "measure with real inputs", code="wb.compare(model, a, b, inputs='examples.npz')"),
    )


def _free_dims(evidence: Evidence) -> tuple[str, ...]:
    """Return the symbolic dimensions of the inputs."""
    names: dict[str, None] = {}
    for declared in declared_inputs(evidence.structure):
        if isinstance(declared.type, TensorType) and declared.type.dims is not None:
            names |= dict.fromkeys(dim for dim in declared.type.dims if isinstance(dim, str))
    return tuple(names)


def _is_small(evidence: Evidence, name: str) -> bool:
    """Return whether a node produces only a few integers."""
    node = evidence.node(name)
    if node is None or not node.outputs:
        return False
    info = evidence.info(node.outputs[0])
    if info is None or info.dims is None:
        return node.op_type == "Shape"
    return info.element == 7 and len(info.dims) <= 1
