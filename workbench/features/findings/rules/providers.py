"""Execution providers: fallbacks, copies and partitions."""

from __future__ import annotations

from collections import Counter

from workbench.core.text import counted
from workbench.features.explain.observe import KERNELS
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import config_fix, options_fix, provider_of, rewrite_fix, rule

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"
TENSORRT = "TensorrtExecutionProvider"
COPIES = ("MemcpyFromHost", "MemcpyToHost")
MOST_PARTITIONS = 4
SMALLEST_PARTITION = 10  # nodes on average; FINDINGS 41


@rule(
    "provider-did-not-load",
    needs=("explained",),
    recognised="a provider that was asked for is not in effect",
    advice="run wb.doctor(), which says what is missing",
    source="ORT goes on with the next provider and says so in its log only",
)
def provider_did_not_load(evidence: Evidence) -> FindingRecords:
    """A requested provider did not load."""
    assert evidence.explained is not None
    for provider, words in evidence.explained.placement.not_loaded:
        yield finding(
            f"{provider} did not load; the next provider took its nodes",
            words[:300],
            forecast=Forecast.unknown("correctness", "sure"),
            fix=Fix("note", "wb.doctor() says what is missing and how to install it", code="wb.doctor()"),
        )


@rule(
    "copies-between-devices",
    needs=("gpu", "explained"),
    recognised="two or more Memcpy nodes lie inside of the graph",
    advice="move the operators that the provider does not take to the edge of the graph, or rewrite them",
    source="each copy waits for the device",
)
def copies_between_devices(evidence: Evidence) -> FindingRecords:
    """Tensors are copied between devices in the middle of the graph."""
    assert evidence.explained is not None
    placement, graph = evidence.explained.placement, evidence.explained.optimized
    edges = set(graph.inputs) | set(graph.outputs)
    copies = [
        node for node in graph.nodes if node.op_type in COPIES and not edges & {*node.inputs, *node.outputs}
    ]
    if len(copies) < 2:
        return
    reasons = Counter(
        f"{node.op_type}: {node.reason}" for node in placement.nodes if node.provider == CPU and node.reason
    )
    runs = evidence.named(node.key for node in copies)
    unknown = Forecast.unknown("time", "likely", copies)
    yield finding(
        f"{counted(len(copies), 'tensor is', 'tensors are')} copied between devices in the middle of the "
        "graph",
        *(f"{text} ({count})" for text, count in reasons.most_common(3)),
        forecast=unknown if evidence.profiled is None else evidence.saving(runs, 1, "likely", nodes=copies),
        fix=Fix(
            "export", "rewrite the operators that fell to the CPU, or gather them at the end of the graph"
        ),
        caution="ORT puts small shape computations on the CPU on purpose",
    )


@rule(
    "many-partitions",
    needs=("explained",),
    recognised="a provider that compiles its parts got more than 4 of them",
    advice="rewrite the operator that splits the graph, or give the provider up; for TensorRT "
    "trt_min_subgraph_size",
    source="each boundary costs a copy and a launch; one operator cut a model into 14 parts",
)
def many_partitions(evidence: Evidence) -> FindingRecords:
    """A provider got the graph in many small parts."""
    assert evidence.explained is not None
    nodes = [node for node in evidence.explained.placement.nodes if node.provider]
    parts = {node.partition for node in nodes if node.provider not in KERNELS}
    if len(parts) <= MOST_PARTITIONS:
        return
    outside = [node for node in nodes if node.provider in KERNELS]
    split = Counter(node.op_type for node in outside)
    yield finding(
        f"The graph is cut into {len(parts)} compiled parts",
        f"operators outside of them: {', '.join(f'{kind} ({n})' for kind, n in split.most_common(5))}",
        forecast=Forecast.unknown("time", "likely", [node.node for node in outside]),
        fix=_joining_fix(evidence, split),
    )


def _joining_fix(evidence: Evidence, split: Counter[str]) -> Fix:
    """Return a rewrite if reflecting pads split the graph, else the least size of a part, else advice."""
    pads = [node for node in evidence.structure.graph.node if node.op_type == "Pad"]
    if split["Pad"] and any(attribute.s == b"reflect" for node in pads for attribute in node.attribute):
        return rewrite_fix(
            evidence, "reflect-pad-spelled-out", "write reflecting pads as slices and a Concat"
        )
    tensorrt = provider_of(evidence, TENSORRT)
    if tensorrt is not None and not tensorrt.option("trt_min_subgraph_size"):
        text = f"leave parts of fewer nodes to the next provider: trt_min_subgraph_size={SMALLEST_PARTITION}"
        return options_fix(evidence, tensorrt, text, {"trt_min_subgraph_size": str(SMALLEST_PARTITION)})
    return Fix("export", "rewrite the operators that split it, or use the CPU for all of it")


@rule(
    "cpu-listed-first",
    recognised="the CPU stands before another provider",
    advice="list the faster provider first and the CPU last",
    source="providers take nodes in their order, and the CPU takes nearly every one",
)
def cpu_listed_first(evidence: Evidence) -> FindingRecords:
    """The CPU is listed before another provider and takes its nodes."""
    names = [provider.name for provider in evidence.config.providers]
    if CPU not in names[:-1]:
        return
    ordered = sorted(evidence.config.providers, key=lambda provider: provider.name == CPU)
    yield finding(
        f"The CPU is listed before {', '.join(names[names.index(CPU) + 1 :])}",
        forecast=Forecast.unknown("correctness", "sure"),
        fix=config_fix(evidence, "list the CPU last", providers=tuple(ordered)),
    )


@rule(
    "copies-of-inputs",
    needs=("gpu", "profiled"),
    recognised="a GPU provider runs the model and inputs and outputs are not bound",
    advice="bind inputs and outputs to the device: io_binding=True",
    source="on a GPU the copies count; on the CPU binding gained nothing (0.975, 0.911 to 1.044)",
)
def copies_of_inputs(evidence: Evidence) -> FindingRecords:
    """Inputs and outputs are copied to and from the device in every run."""
    if not {*evidence.providers} & {CUDA, TENSORRT} or evidence.config.io_binding:
        return
    yield finding(
        "Inputs and outputs are copied to and from the device in every run",
        forecast=Forecast.unknown("time", "likely"),
        fix=config_fix(evidence, "bind them: io_binding=True", io_binding=True),
    )
