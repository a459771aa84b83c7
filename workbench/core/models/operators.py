"""Counts of a graph: operators, parameters, control flow, quantization."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from workbench.core.models.declared import element_name
from workbench.core.rewrites.graphs import graphs

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")
_QDQ = frozenset({"QuantizeLinear", "DequantizeLinear"})
_INTEGER = frozenset({"ConvInteger", "MatMulInteger", "DynamicQuantizeLinear", "DynamicQuantizeMatMul"})
_WEIGHT_ONLY = frozenset({"MatMulNBits", "GatherBlockQuantized", "MatMulBnb4", "QMoE"})
_DEFAULT_DOMAINS = ("", "ai.onnx")


def operator(node: NodeProto) -> str:
    """Return `Conv`, or `com.microsoft.Attention` for a domain other than the default one."""
    return str(node.op_type) if node.domain in _DEFAULT_DOMAINS else f"{node.domain}.{node.op_type}"


def count_operators(model: ModelProto) -> Counter[str]:
    """Count the operators of the graph, its subgraphs and its functions, each where it is written."""
    return Counter(operator(node) for graph in graphs(model) for node in graph.node)


def count_parameters(model: ModelProto) -> tuple[Counter[str], tuple[str, ...]]:
    """Count the parameters by element type; return the problems beside the counts."""
    elements: Counter[str] = Counter()
    problems: tuple[str, ...] = ()
    for graph in graphs(model):
        attributes = (a for node in graph.node if node.op_type == "Constant" for a in node.attribute)
        constants = (attribute.t for attribute in attributes if attribute.name == "value")
        for tensor in (*getattr(graph, "initializer", ()), *constants):  # some exporters store weights there
            if any(dim < 0 for dim in tensor.dims):
                problems = ("A stored tensor has a negative dim, which ORT refuses. Export the model again.",)
            else:
                elements[element_name(tensor.data_type)] += prod(tensor.dims)
    return elements, problems


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
