"""The error of each layer from the job's figures of tensors and weights. No process, no clock."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from onnx import ModelProto, NodeProto

from workbench.analysis.fidelity.layer_groups import LAYERS
from workbench.records.layers import LayerError, TensorError, WeightError

PASSING = frozenset({"Relu", "Clip", "LeakyRelu", "Sigmoid", "Add", "Identity", "Reshape", "Transpose"})
MOST_STEPS = 3  # from a layer to the tensor that stands for its output
EMBEDDING = "Gather"


def tensor_errors(answer: Mapping[str, Any], structure: ModelProto) -> tuple[TensorError, ...]:
    """Return the tensor errors in the order of the graph, inputs first."""
    makers = {output: node for node in structure.graph.node for output in node.output}
    order = {node_name: at for at, node_name in enumerate(makers)}
    rows = sorted(answer["tensors"], key=lambda row: order.get(row["tensor"], -1))
    return tuple(
        TensorError(
            tensor=row["tensor"],
            node=makers[row["tensor"]].name if row["tensor"] in makers else None,
            rounding_db=decibels(*row["rounding"]) if row["rounding"] else None,
            **_figures(row),
        )
        for row in rows
    )


def weight_errors(answer: Mapping[str, Any]) -> tuple[WeightError, ...]:
    """Return the weight errors in the order of the file."""
    return tuple(WeightError(weight=row["weight"], **_figures(row)) for row in answer["weights"])


def layer_errors(
    structure: ModelProto, tensors: Sequence[TensorError], weights: Sequence[WeightError]
) -> tuple[LayerError, ...]:
    """Return the error of every layer of the float file for which a figure is known."""
    by_tensor = {error.tensor: error for error in tensors}
    by_weight = {error.weight: error for error in weights}
    readers: dict[str, list[NodeProto]] = {}
    for node in structure.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    errors = []
    for node in structure.graph.node:
        own = [by_weight[name] for name in node.input if name in by_weight]
        if node.op_type not in LAYERS and not (node.op_type == EMBEDDING and own):
            continue
        read = [by_tensor[name] for name in node.input if name in by_tensor]
        output = _output(node, by_tensor, readers)
        if not own and output is None and not any(error.rounding_db is not None for error in read):
            continue
        ratios = [error.outlier_ratio for error in own] + [error.outlier_ratio for error in read]
        errors.append(
            LayerError(
                node=node.name,
                op_type=node.op_type,
                weight_db=_least(error.sqnr_db for error in own),
                input_db=_least(error.rounding_db for error in read),
                output_db=None if output is None else output.sqnr_db,
                outlier_ratio=max((ratio for ratio in ratios if ratio is not None), default=None),
            )
        )
    return tuple(errors)


def decibels(signal: float, noise: float) -> float | None:
    """Return the ratio in decibels; None where there is no noise, no signal, or no number."""
    ratio = signal / noise if noise > 0 else math.inf
    return 10 * math.log10(ratio) if 0 < ratio < math.inf else None


def _output(
    node: NodeProto, tensors: Mapping[str, TensorError], readers: Mapping[str, list[NodeProto]]
) -> TensorError | None:
    """Return the error of the layer's output, or of its only reader's: a Relu may belong to the layer."""
    for _ in range(MOST_STEPS):
        if not node.output:
            return None
        name = node.output[0]
        if name in tensors:
            return tensors[name]
        after = readers.get(name, [])
        if len(after) != 1 or after[0].op_type not in PASSING:
            return None
        node = after[0]
    return None


def _least(values: Any) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _figures(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a tensor or weight; the outlier ratio: its largest magnitude over the usual."""
    low, high, usual = row["low"], row["high"], row["usual"]
    known = low is not None and high is not None and usual
    return {
        "sqnr_db": decibels(row["signal"], row["noise"]),
        "low": low,
        "high": high,
        "outlier_ratio": float(max(abs(low), abs(high)) / usual) if known else None,
        "element_count": row["elements"],
    }
