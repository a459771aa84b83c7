"""Flaws of the model file: weights that are inputs, denormal, stored twice or never read."""

from __future__ import annotations

from onnx import TensorProto

from workbench.core.models.element_type import size_bytes
from workbench.core.models.graph import Node
from workbench.core.rewrites.scopes import CONSTANTS_IR_VERSION, is_of_adapter
from workbench.core.text import counted, shorten
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import rewrite_fix, rule
from workbench.features.findings.weights import Weight

DENORMAL_SHARE = 0.001
DENORMAL_LEAST = 1.5  # a processor that takes less time more computes them in its arithmetic units
DENORMAL_SLOWER = 20.0  # measured up to 113 times; the promised gain is a cautious part
_LEAST_BYTES = 1 << 20
ATTRIBUTE_BYTES = 64 << 20
_FLOATS = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
)  # the CPU computes 16-bit floats in these, as normal numbers


@rule(
    "weights-are-inputs",
    recognised="initializers are listed among the inputs of the graph, or ORT warns of it",
    advice="remove them from the inputs; export with keep_initializers_as_inputs=False",
    source="1.84 times (1.77 to 1.92) on a convolutional net",
)
def weights_are_inputs(evidence: Evidence) -> FindingRecords:
    """Weights are graph inputs, so ORT cannot fold and fuse them as constants."""
    if evidence.structure.ir_version < CONSTANTS_IR_VERSION:
        return  # initializers have to be inputs there, and ORT takes them as constants
    graph = evidence.structure.graph
    weights = {value.name for value in graph.input} & {tensor.name for tensor in graph.initializer}
    weights = {name for name in weights if not is_of_adapter(name)}  # LoRA is given with each run
    if not weights:
        return
    convolutions = evidence.of("Conv", "FusedConv", "BatchNormalization")
    code = "torch.onnx.export(…, keep_initializers_as_inputs=False)"
    yield finding(
        f"{counted(len(weights), 'weight is an input', 'weights are inputs')} of the model",
        "a caller could replace them in each run, so ORT may not fold or fuse them",
        forecast=evidence.saving(
            convolutions, 1 - 1 / 1.7, "sure", interval="likely", nodes=_readers(evidence, weights)
        ),
        fix=rewrite_fix(evidence, "weights-out-of-inputs", "take them out of the inputs", code),
        caution="keep those that a caller really replaces",
    )


@rule(
    "denormal-weights",
    needs=("weights",),
    recognised="at least 0.1 % of the elements of a weight are denormal numbers",
    advice="set them to zero in the file; it works everywhere",
    source="a net with weights of 1e-39: 113 times slower (96 to 133) on a Xeon, no slower on an AMD EPYC",
)
def denormal_weights(evidence: Evidence) -> FindingRecords:
    """Weights contain denormal numbers, which the processor computes in microcode."""
    weights = _scanned(evidence)
    denormal = [w for w in weights if w.denormal_share >= DENORMAL_SHARE and w.element in _FLOATS]
    if not denormal:
        return
    readers = _readers(evidence, {weight.name for weight in denormal})
    count = sum(weight.denormals for weight in denormal)
    slowdown = evidence.weights.denormal_slowdown if evidence.weights else None
    slowdown = DENORMAL_SLOWER if slowdown is None else min(slowdown, DENORMAL_SLOWER)
    matters = slowdown >= DENORMAL_LEAST
    products = evidence.of("Conv", "FusedConv", "MatMul", "Gemm", "FusedMatMul")
    factor = 1 - 1 / slowdown if matters else 0.0
    yield finding(
        f"{count:,} elements of {counted(len(denormal), 'weight')} are denormal",
        f"at most {max(weight.denormal_share for weight in denormal) * 100:.1f} % of a weight",
        *([] if matters else ["this processor computes them at full speed; many others do not"]),
        forecast=evidence.saving(products, factor, "sure", interval="maybe", nodes=readers),
        fix=rewrite_fix(evidence, "denormals-to-zero", "set them to zero in the file"),
        caution="session.set_denormal_as_zero=1 counts for the first session of a process only",
    )


@rule(
    "non-finite-weights",
    needs=("weights",),
    recognised="a weight holds NaN or infinity",
    advice="export the model again from a sound checkpoint",
    source="such a weight makes every output that depends on it NaN",
)
def non_finite_weights(evidence: Evidence) -> FindingRecords:
    """Weights contain NaN or infinity."""
    broken = [weight for weight in _scanned(evidence) if weight.non_finite]
    masks = [weight for weight in broken if weight.largest is not None and weight.count == weight.non_finite]
    broken = [weight for weight in broken if weight not in masks]
    if not broken:
        return
    readers = _readers(evidence, {weight.name for weight in broken})
    yield finding(
        f"{counted(len(broken), 'weight holds', 'weights hold')} NaN or infinity",
        f"{sum(weight.non_finite for weight in broken):,} elements",
        forecast=Forecast.unknown("correctness", "likely", readers),
        fix=Fix("export", "export again from a checkpoint without NaN"),
        caution="a mask may hold infinities on purpose",
    )


@rule(
    "weights-stored-twice",
    needs=("weights",),
    recognised="two weights of at least 1 MiB are equal, or one is the transpose of the other",
    advice="let equal ones share one tensor; export so that a transposed one does, too",
    source="GPT-2: 163.0 to 124.4 million parameters, 154 MB",
)
def weights_stored_twice(evidence: Evidence) -> FindingRecords:
    """The same weights are stored twice."""
    groups: dict[str, list[Weight]] = {}
    for weight in _scanned(evidence):
        if weight.size_bytes >= _LEAST_BYTES and weight.sha1 is not None:
            key = min(weight.sha1, weight.sha1_transposed or weight.sha1)
            groups.setdefault(f"{key} {weight.element}", []).append(weight)
    twins = [group for group in groups.values() if len(group) > 1]
    if not twins:
        return
    wasted = sum(weight.size_bytes for group in twins for weight in group[1:])
    readers = _readers(evidence, {weight.name for group in twins for weight in group})
    total = evidence.weights.size_bytes if evidence.weights else 0
    yield finding(
        f"{wasted / (1 << 20):,.0f} MiB of weights are stored twice",
        *(
            " = ".join(f"{shorten(weight.name, 60)} {list(weight.dims)}" for weight in group)
            for group in twins[:3]
        ),
        forecast=Forecast.of_memory(wasted, wasted / total if total else None, "sure", readers),
        fix=_shared(evidence, twins),
    )


def _shared(evidence: Evidence, twins: list[list[Weight]]) -> Fix:
    """Return the rewrite if weights are equal; no rewrite shares a transposed weight."""
    code = "torch.onnx.export(model, inputs, path, dynamo=True)"
    if any(len({weight.sha1 for weight in group}) < len(group) for group in twins):
        return rewrite_fix(evidence, "duplicated-weights-shared", "let them share one tensor", code)
    return Fix("export", "tie them in the export; the newer exporter of PyTorch does", code=code)


@rule(
    "unused-weights",
    recognised="initializers of at least 1 MiB that no node reads",
    advice="remove them from the file",
    source="they cost load time, disk and memory",
)
def unused_weights(evidence: Evidence) -> FindingRecords:
    """The file contains unused weights."""
    graph = evidence.prepared
    read = {name for node in graph.nodes for name in node.reads} | set(graph.outputs)
    unused = {
        name: info.size_bytes for name, info in graph.constants.items()
        if name not in read and (info.size_bytes or 0) >= _LEAST_BYTES
    }  # fmt: skip
    wasted = sum(size or 0 for size in unused.values())
    if not unused:
        return
    share = min(1.0, wasted / evidence.size_bytes) if evidence.size_bytes else None
    yield finding(
        f"{counted(len(unused), 'weight is', 'weights are')} never read ({wasted / (1 << 20):,.0f} MiB)",
        *(shorten(name, 60) for name in list(unused)[:3]),
        forecast=Forecast.of_memory(wasted, share, "sure"),
        fix=rewrite_fix(evidence, "unused-weights-removed", "remove them from the file"),
    )


@rule(
    "weights-as-attributes",
    recognised="one node carries more than 100,000 numbers in an attribute, or Constant nodes hold 64 MiB",
    advice="store them as initializers; of tree ensembles use the *_as_tensor attributes",
    source="a forest of 915 MB took minutes to load",
)
def weights_as_attributes(evidence: Evidence) -> FindingRecords:
    """Large numbers are stored as attributes of nodes."""
    heavy, total = [], 0
    for node in evidence.structure.graph.node:
        numbers = sum(len(attribute.floats) + len(attribute.ints) for attribute in node.attribute)
        if numbers > 100_000:
            heavy.append(node.name or node.op_type)
        for attribute in node.attribute if node.op_type == "Constant" else ():  # whose payload is not read
            total += size_bytes(attribute.t.data_type, attribute.t.dims) or 0
    if not heavy and total < ATTRIBUTE_BYTES:
        return
    yield finding(
        "Large numbers are stored as attributes of nodes",
        f"{counted(len(heavy), 'node')} with over 100,000 numbers each",
        f"{total / (1 << 20):,.0f} MiB in Constant nodes",
        forecast=Forecast.unknown("load", "likely", heavy),
        fix=rewrite_fix(evidence, "constants-to-initializers", "store them as initializers")
        if any(node.op_type == "Constant" for node in evidence.structure.graph.node)
        else Fix("export", "store them as tensors of the tree ensemble (its *_as_tensor attributes)"),
    )


def _scanned(evidence: Evidence) -> tuple[Weight, ...]:
    return () if evidence.weights is None else evidence.weights.weights


def _readers(evidence: Evidence, names: set[str]) -> list[Node]:
    """Return the nodes of the prepared file that read one of these tensors."""
    return [node for node in evidence.prepared.nodes if names & set(node.inputs)]
