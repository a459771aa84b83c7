"""Names and counts of a model's nodes, as the steps need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.core.config import Config
from workbench.core.errors import PrepareError
from workbench.core.models.model import Model
from workbench.core.models.naming import named_copy
from workbench.core.rewrites.graphs import graphs
from workbench.core.text import listed, nearest, printable, shorten

if TYPE_CHECKING:
    from onnx import ModelProto

WRITES_NODE_NAMES = "session.collect_node_memory_stats_to_file"
_INTEGER_OPERATORS = (
    *("MatMulInteger", "ConvInteger", "DynamicQuantizeLinear", "DynamicQuantizeLSTM", "QLinearConv"),
    *("QLinearMatMul", "QGemm", "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu"),
    *("QLinearSoftmax", "QLinearConcat", "QLinearGlobalAveragePool", "QLinearAveragePool", "QLinearWhere"),
    *("QAttention", "QEmbedLayerNormalization", "MatMulNBits", "QuantizeLinear", "DequantizeLinear"),
)


def names(model: Model) -> list[str]:
    """Return the names of the nodes after pre-processing: the file's own, or ours for unnamed nodes."""
    return [node.name for node in named_copy(model.structure).graph.node]


def resolve(wanted: tuple[str, ...], current: Model, original: Model) -> dict[str, list[str]]:
    """Return the names in a step's file by the names in the user's model.

    ORT ignores an unknown name, so every name must resolve to a node: of the same name, of the name that a
    fusion gave ("fc/MatMulAddFusion" for "fc"), or with the same output tensor. A node that pre-processing
    folded away has none.
    """
    if not wanted:
        return {}
    here = named_copy(current.structure).graph.node
    known = {node.name for node in here}
    makers = {output: node.name for node in here for output in node.output}
    before = {node.name: node for node in named_copy(original.structure).graph.node}
    return {name: _resolved(name, known, makers, before) for name in wanted}


def _resolved(name: str, known: set[str], makers: Mapping[str, str], before: Mapping[str, Any]) -> list[str]:
    if name in known:
        return [name]
    renamed = [node for node in known if node.startswith(f"{name}/")]
    if renamed:
        return renamed
    if name in before:
        return [makers[output] for output in before[name].output if output in makers]
    near = nearest(name, sorted({*before, *known}))
    raise PrepareError(
        f"exclude names {shorten(name)!r}, which is no node of this model",
        f"did you mean {listed(near)}?" if near else "wb.explain(model) shows the names of its nodes",
    )


def appeared(answer: Mapping[str, Any], kinds: tuple[str, ...] = _INTEGER_OPERATORS) -> dict[str, int]:
    """Return the number of operators of these types that a step added."""
    before, after = answer.get("before", {}), answer.get("after", {})
    grown = {name: after.get(name, 0) - before.get(name, 0) for name in kinds}
    return {name: count for name, count in grown.items() if count > 0}


def nodes_before_and_after(answer: Mapping[str, Any]) -> str:
    """Return how a step changed the number of nodes, as text."""
    return f"{sum(answer['before'].values())} nodes became {sum(answer['after'].values())}"


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts as text: 3 MatMulInteger, 1 Cast."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def check_written_names(structure: ModelProto, config: Config) -> None:
    """Refuse names with control characters, since ORT writes node names into a file verbatim."""
    if WRITES_NODE_NAMES not in dict(config.session_entries):
        return
    for graph in graphs(structure):
        for node in graph.node:
            if not node.name.isprintable():
                raise PrepareError(
                    f"ORT would write the node name {shorten(printable(node.name), 60)} into the file of "
                    f"{WRITES_NODE_NAMES}, and it has letters that cannot be printed.",
                    "Leave that entry out, or name the nodes anew.",
                )
