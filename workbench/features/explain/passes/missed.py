"""Fusions that the source graph has the pattern for and that did not happen, with the nearest reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from workbench.core.config import shipped_passes
from workbench.core.models.graph import Graph, Node
from workbench.features.explain.observe import KERNELS, Observation
from workbench.features.explain.passes.patterns import ATTENTION, QDQ, Occurrence, occurrences
from workbench.features.explain.provenance.account import Account

MOST_BETWEEN = 5  # nodes between the product of an attention and its Softmax
LAST_OPSET = 12  # later masks are unsqueezed by an input; ORT 1.31 was seen to find no mask from 13 to 23
KNOWN_BETWEEN = (("Div", "Add"), ("Div", "Where"), ("Where",))
# between a product and what splits the heads
PASSED = ("Transpose", "Mul", "Div", "Identity", "Sqrt", "Cast")


def attention(graph: Graph, keys: Iterable[str]) -> str | None:
    """List the failed conditions, the broadest first, or None. `keys`: product, Softmax, product."""
    product, softmax, after = (graph.by_key[key] for key in keys)
    failed = list(_told(graph, product, softmax, after))
    return "; ".join(dict.fromkeys(failed)) or None


def _told(graph: Graph, product: Node, softmax: Node, after: Node) -> Iterator[str]:
    version = graph.opset("")
    if version is not None and version > LAST_OPSET:
        yield (
            f"the model's operator set is {version}, and ORT's AttentionFusion finds the mask of one up to "
            f"{LAST_OPSET} only"
        )
    between = _between(graph, product, softmax)
    if between is not None and between not in KNOWN_BETWEEN:
        here = ", then ".join(between) or "nothing"
        yield (
            f"between the product and the Softmax stands {here}, where it looks for Div by the root of the "
            "head's size, then Add of the mask"
        )
    roots: list[str] = []
    for what, reader, position in (("query", product, 0), ("key", product, 1), ("value", after, 1)):
        split = _before(graph, reader.inputs[position] if len(reader.inputs) > position else "")
        if split is None:
            yield f"no Reshape splits the heads of the {what}"
            continue
        if what == "value" and len(split.inputs) > 1 and not _is_constant(graph, split.inputs[1]):
            yield "the Reshape that splits the heads of the value takes a shape that the graph computes"
        yield from _projection(graph, split, what, roots)
    if len(set(roots)) == 1:
        yield from _readers(graph, roots[0])
    elif len(set(roots)) > 1:
        yield "query, key and value are not made of one tensor"


def _projection(graph: Graph, split: Node, what: str, roots: list[str]) -> Iterator[str]:
    """Check a projection: MatMul with constant weights, then Add of a constant bias, in this order."""
    maker = graph.producers.get(split.inputs[0])
    if maker is not None and maker.op_type == "Reshape":
        maker = graph.producers.get(maker.inputs[0])
    if maker is not None and maker.op_type == "Gemm":
        yield (
            "MatMulAddFusion made a Gemm of the projections, because their dims are fixed, where it looks "
            "for MatMul and Add; with MatMulAddFusion off (disabled_passes), or batch or sequence left "
            "open, they stay"
        )
        return
    if maker is None or maker.op_type not in ("Add", "MatMul"):
        here = "an input of the model" if maker is None else maker.op_type
        yield f"the heads of the {what} are split from {here}, where it looks for MatMul and Add"
        return
    product: Node | None = maker
    if maker.op_type == "Add":
        first, second = (graph.producers.get(name) for name in maker.inputs[:2])
        if first is None or first.op_type != "MatMul":
            product = second if second is not None and second.op_type == "MatMul" else None
            yield f"the bias of the {what} stands first in its Add, where it looks for it second"
        else:
            product = first
    else:
        yield f"no bias is added to the {what}"
    if product is not None and product.op_type == "MatMul":
        roots.append(product.inputs[0])
        if not _is_constant(graph, product.inputs[1]):
            yield f"the weight of the {what} is no constant"


def _readers(graph: Graph, root: str) -> Iterator[str]:
    """Check the readers of the layer norm in front: three projections and the sum after the attention."""
    counts = Counter(node.op_type for node in graph.readers.get(root, ()))
    counts.pop("Shape", None)
    if counts == {"MatMul": 3, "Add": 1}:
        return
    here = ", ".join(f"{count} {op_type}" for op_type, count in sorted(counts.items()))
    yield (
        f"what the projections read has the readers {here}; it looks for a LayerNormalization that "
        "3 MatMul and the Add after the attention read (a norm after the sum, as in BERT)"
    )


def _between(graph: Graph, product: Node, softmax: Node) -> tuple[str, ...] | None:
    """Return the operators on the shortest way from the product to the Softmax, in the order they run."""
    waiting: list[tuple[Node, tuple[str, ...]]] = [(softmax, ())]
    visited = {softmax.key}
    while waiting:
        node, path = waiting.pop(0)
        for name in node.inputs:
            maker = graph.producers.get(name)
            if maker is product:
                return path
            if maker is not None and maker.key not in visited and len(path) < MOST_BETWEEN:
                visited.add(maker.key)
                waiting.append((maker, (maker.op_type, *path)))
    return None


def _before(graph: Graph, name: str) -> Node | None:
    """Find the Reshape that splits the heads."""
    for _ in range(MOST_BETWEEN):
        maker = graph.producers.get(name)
        if maker is None or maker.op_type == "Reshape":
            return maker
        if maker.op_type not in PASSED or not maker.inputs:
            return None
        name = maker.inputs[0]
    return None


def _is_constant(graph: Graph, name: str) -> bool:
    """Return whether a tensor is a constant of the graph."""
    maker = graph.producers.get(name)
    return name in graph.constants or (maker is not None and maker.op_type == "Constant")


MOST_REASONS = 3
INTEGER_KERNELS = (
    *("QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd", "QLinearMul", "QLinearAveragePool"),
    *("MatMulIntegerToFloat", "MatMulNBits"),
)
# What it found, where it begins, and a fusion for one family of models that tries everywhere
NO_REASON = ("Total ", "Matched ", "Start ", "Pass ", "Fused ", "MobileClip")


@dataclass(frozen=True, slots=True)
class Missed:
    """A place where a fusion was expected. `reason`: ORT's words or the failed condition; None: not known."""

    pattern: str
    nodes: tuple[str, ...]  # in the graph that ORT was given
    stopped_at: tuple[str, ...]  # the optimized nodes that do their work now
    passes: tuple[str, ...]  # that would have done it
    reason: str | None
    reason_from: str | None  # "ORT", "the graph", "the config"


def missed(observation: Observation, account: Account) -> tuple[Missed, ...]:
    """Find the patterns of the loaded graph whose nodes did not end in one optimized node.

    Without the passes one by one, too little is traced to say so.
    """
    if not observation.passes_known:
        return ()
    into = {source.node: source.into for source in account.sources}
    kinds = {node.key: node.op_type for node in observation.final.nodes}
    compiled = _compiled(observation)
    missing = []
    for place in occurrences(observation.prepared):
        ends = [set(into[key]) for key in place.nodes]
        if any(not end for end in ends) or is_fused(place, ends, kinds):
            continue  # folded or eliminated: nothing was left to fuse
        if compiled and set().union(*ends) <= compiled:
            continue  # what a provider makes of the nodes that it compiles, it does not tell
        reason, reason_from = _reason(place, observation)
        stopped = tuple(dict.fromkeys(key for end in ends for key in sorted(end)))
        missing.append(Missed(place.pattern, place.nodes, stopped, place.passes, reason, reason_from))
    return tuple(missing)


def _compiled(observation: Observation) -> set[str]:
    """Return the nodes that a provider compiled: ORT does not fuse there."""
    if observation.final_saved:
        return set()
    taken = {
        name for provider, nodes in observation.assignment if provider not in KERNELS for name, _, _ in nodes
    }
    return {node.key for node in observation.final.nodes if node.name in taken}


def is_fused(place: Occurrence, ends: list[set[str]], kinds: dict[str, str]) -> bool:
    """Return whether the nodes of a place ended in one node. `ends`: the optimized nodes of each of them."""
    if set.intersection(*ends):
        return True
    return place.pattern == QDQ and any(kinds[key] in INTEGER_KERNELS for key in ends[-1])


def _reason(place: Occurrence, observation: Observation) -> tuple[str | None, str | None]:
    disabled, tried = observation.disabled_passes, {application.name for application in observation.applied}
    absent = {name: reason for name in place.passes if (reason := why_absent(name, disabled, tried))}
    if len(absent) == len(place.passes):
        return "; ".join(f"{name} {reason}" for name, reason in absent.items()), "the config"
    blocked = place.blocked
    if place.pattern == ATTENTION:  # its fusion looks after the basic level, if the nodes are still there
        stays = all(key in observation.basic.by_key for key in place.nodes)
        blocked = attention(observation.basic if stays else observation.prepared, place.nodes)
    if blocked is not None:
        return blocked, "the graph"
    messages = [
        text
        for application in observation.applied
        if application.name in place.passes
        for text in application.messages
        if not text.startswith(NO_REASON)
    ]
    here = [text for text in messages if any(f"[{key}]" in text or f"'{key}'" in text for key in place.nodes)]
    words = " | ".join(list(dict.fromkeys(here or messages))[:MOST_REASONS])
    return (words, "ORT") if words else (None, None)


def why_absent(name: str, disabled: Collection[str], tried: Collection[str]) -> str | None:
    """Return why a pass did not run; None if it did. `tried`: the transformers that ran."""
    if name in disabled:
        return "is among disabled_passes"
    transformer = _transformers().get(name, name)
    if transformer in disabled:
        return f"is a rule of {transformer}, which is among disabled_passes"
    return None if transformer in tried else "did not run at this level"


@cache
def _transformers() -> dict[str, str]:
    return {rule.name: rule.part_of for rule in shipped_passes().passes if rule.part_of}
