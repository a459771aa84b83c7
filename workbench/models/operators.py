"""Counts of a graph: operators, parameters, control flow, quantization."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from onnx import FunctionProto, ModelProto, NodeProto, TensorProto

from workbench.models.declared import element_name
from workbench.models.structure import graphs

CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")
_QDQ = frozenset({"QuantizeLinear", "DequantizeLinear"})
_INTEGER = frozenset({"ConvInteger", "MatMulInteger", "DynamicQuantizeLinear", "DynamicQuantizeMatMul"})
_WEIGHT_ONLY = frozenset({"MatMulNBits", "GatherBlockQuantized", "MatMulBnb4", "QMoE"})
_DEFAULT_DOMAINS = ("", "ai.onnx")


@dataclass(frozen=True, slots=True)
class Contents:
    """The content of the graph, its subgraphs and its functions, each counted where it is written."""

    nodes: int  # in the main graph
    inner_nodes: int  # in subgraphs and functions
    operators: tuple[tuple[str, int], ...]  # the most frequent first
    parameters: int
    elements: tuple[tuple[str, int], ...]  # parameters by element type
    problems: tuple[str, ...]


def operator(node: NodeProto) -> str:
    """Return `Conv`, or `com.microsoft.Attention` for a domain other than the default one."""
    return str(node.op_type) if node.domain in _DEFAULT_DOMAINS else f"{node.domain}.{node.op_type}"


def contents(model: ModelProto) -> Contents:
    """Count everything in one pass."""
    operators: Counter[str] = Counter()
    elements: Counter[str] = Counter()
    negative: list[str] = []
    for graph in graphs(model):
        operators.update(operator(node) for node in graph.node)
        for tensor in _parameters(graph.node, () if isinstance(graph, FunctionProto) else graph.initializer):
            if any(dim < 0 for dim in tensor.dims):
                negative.append(tensor.name)
            else:
                elements[element_name(tensor.data_type)] += prod(tensor.dims)
    problems = ("A stored tensor has a negative dim, which ORT refuses. Export the model again.",)
    return Contents(
        nodes=len(model.graph.node),
        inner_nodes=operators.total() - len(model.graph.node),
        operators=tuple(sorted(operators.items(), key=lambda item: (-item[1], item[0]))),
        parameters=elements.total(),
        elements=tuple(elements.most_common()),
        problems=problems if negative else (),
    )


def _parameters(nodes: Iterable[NodeProto], initializers: Iterable[TensorProto]) -> Iterable[TensorProto]:
    """Return initializers and values of Constant nodes, where some exporters store weights."""
    yield from initializers
    for node in nodes:
        if node.op_type == "Constant":
            yield from (attribute.t for attribute in node.attribute if attribute.name == "value")


def quantization(operators: Iterable[str]) -> str | None:
    """Return the form of quantization according to the operators, or None."""
    names = {name.rpartition(".")[2] for name in operators}
    forms = []
    if names >= _QDQ:
        forms.append("QDQ (quantize and dequantize nodes)")
    elif "DequantizeLinear" in names:
        forms.append("weight-only (DequantizeLinear)")
    if any(name.startswith("QLinear") or name in ("QGemm", "QAttention") for name in names):
        forms.append("QOperator (QLinear… nodes)")
    if names & _INTEGER:
        forms.append("dynamic (integer nodes)")
    if names & _WEIGHT_ONLY:
        forms.append("weight-only (block-wise)")
    return ", ".join(forms) or None


def control_flow(operators: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """Return the control flow operators with counts, as in `If × 2`."""
    return tuple(f"{name} × {count}" for name, count in operators if name in CONTROL_FLOW)
