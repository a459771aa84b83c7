"""The known failures of ORT's static quantizer, and for each the change of the settings that avoids it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import onnx

from workbench.core.errors import RunFailed
from workbench.core.rewrites.graphs import bodies, with_bodies
from workbench.core.rewrites.scopes import captured_names, opset_of
from workbench.core.text import listed, shorten
from workbench.core.worker.preparing.conversions import PER_CHANNEL_OPSET

ACTIVATIONS = ("Relu", "Clip")  # that the quantizer drops, since the scale of their output cuts as they do
_FORMATS = {"qdq": "QuantizeLinear and DequantizeLinear", "qoperator": "integer operators"}
COSTLY = ("Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU", "RNN", "Attention")
MOST_RETRIES = 12
_NAMING = (  # messages that name a tensor or a node, which can stay in float
    (r"Quantization parameters are not specified for param (.+?)\. In static mode", "its range is not known"),
    (r"Expected (.+?) to be an initializer", "its weight is no constant of the main graph"),
    (r"Expected (.+?) to be in quantized value map", "its input is not quantized"),
    (r"unknown initializers/tensors\.\{(.+)\}", "the quantizer loses a tensor that it reads"),
    (r"Invalid tensor name to quantize: (.+?) @graph", "the quantizer loses a tensor that it reads"),
    (r"node with name '(.+?)(?:_quant)?'", "ORT has no integer kernel for it"),
    (r"Nodes? ?\(?.?name:? ?'?([^'\s)]+)", "ORT refuses it as integers"),
)


@dataclass(frozen=True, slots=True)
class Retry:
    """Changed settings of the quantizer, and the reason as a sentence for the user."""

    setting: str  # the name of the one that changed
    settings: dict[str, Any]  # all of them
    reason: str


def known_beforehand(model: onnx.ModelProto, settings: dict[str, Any]) -> Iterator[Retry]:
    """Yield changes for graphs on which the quantizer fails without a message, or makes a wrong file."""
    old = opset_of(model) < PER_CHANNEL_OPSET
    if old and settings["per_channel"] and settings["format"] == "qdq":
        settings = {**settings, "per_channel": False}
        yield Retry(
            "per_channel",
            settings,
            f"one scale for each tensor: opset {opset_of(model)} has no scale for each channel",
        )
    if settings["format"] != "qdq":
        return
    read = captured_names(model)
    dropped = [
        node.name
        for node in model.graph.node
        if node.op_type in ACTIVATIONS and read & {*node.output} and node.name not in settings["exclude"]
    ]
    if dropped:
        yield Retry(
            "exclude",
            {**settings, "exclude": sorted({*settings["exclude"], *dropped})},
            f"{listed(dropped, 3)} in float: a body of control flow reads the output, and ORT's quantizer "
            "would drop the node",
        )


def after(
    error: Exception, model: onnx.ModelProto, settings: dict[str, Any], asked: dict[str, Any]
) -> Retry | None:
    """Return the next change to try after a failure; None if there is none left."""
    message = str(error)
    for pattern, why in _NAMING:
        for match in re.finditer(pattern, message):
            names = {name.strip().strip("'\"") for name in match[1].split("', '")}
            touching = _touching(model, names, settings["exclude"])
            if touching:
                exclude = sorted({*settings["exclude"], *touching})
                reason = f"{listed(touching, 3)} in float: {why}"
                return Retry("exclude", {**settings, "exclude": exclude}, reason)
    since = f"since the quantizer failed ({shorten(message.strip() or type(error).__name__, 120)})"
    if settings["per_channel"]:
        return Retry("per_channel", {**settings, "per_channel": False}, f"one scale for each tensor, {since}")
    if settings["format"] == asked["format"] and "16" not in settings["activation"]:
        other = "qoperator" if settings["format"] == "qdq" else "qdq"
        changed = {**settings, "format": other, "per_channel": asked["per_channel"]}
        return Retry("format", changed, f"{_FORMATS[other]} in the file, {since}")
    return None


def refused(first: Exception, tried: list[Retry]) -> RunFailed:
    """Return the error for a graph that no retry helps."""
    attempts = f"; also tried: {'; '.join(retry.reason for retry in tried)}" if tried else ""
    return RunFailed(
        f"ORT's quantizer cannot make this graph integer: {shorten(str(first).strip(), 400)}{attempts}",
        "leave nodes in float by name, StaticInt8(exclude=(…)), quantize products and convolutions alone, "
        "op_types=('Conv', 'MatMul', 'Gemm'), or use wb.Float16() or no precision",
    )


def in_bodies(model: onnx.ModelProto) -> dict[str, dict[str, int]]:
    """Return how many costly operators lie in bodies, by the node of the main graph around them."""
    inside = {}
    for node in model.graph.node:
        graphs = [graph for body in bodies(node) for graph in with_bodies(body)]
        counts = Counter(inner.op_type for graph in graphs for inner in graph.node if inner.op_type in COSTLY)
        if counts:
            inside[node.name or node.op_type] = dict(counts)
    return inside


def _touching(model: onnx.ModelProto, names: set[str], excluded: list[str]) -> list[str]:
    """Return the nodes of the main graph with one of these names, or that read or make such a tensor."""
    own = [node.name for node in model.graph.node if node.name in names]
    readers = [node.name for node in model.graph.node if names & {*node.input}]
    makers = [node.name for node in model.graph.node if names & {*node.output}]
    for nodes in (own, readers, makers):
        if left := [name for name in nodes if name not in excluded]:
            return left
    return []
