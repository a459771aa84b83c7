"""Which nodes of two graphs are the same node, and which tensors stand for the same value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from workbench.core.models.graph import Graph, Node

# Nodes that carry a value to another place, type or layout: ORT puts them in, no source node asks for them.
CARRIERS = frozenset(
    {"Cast", "Transpose", "ReorderInput", "ReorderOutput", "MemcpyFromHost", "MemcpyToHost", "Identity",
     "QuantizeLinear", "DequantizeLinear"}
)  # fmt: skip
# NchwcTransformer names its nodes after the tensor that the replaced node made.
NAME_SUFFIXES = ("_bn_nchwc", "_mul_nchwc", "_nchwc")
TENSOR_PREFIXES = ("InsertedPrecisionFreeCast_",)  # the same value in float32


@dataclass
class Pairing:
    """`same`: kept nodes, by key after, to the node before; `changed`: pairs that make another tensor."""

    before: Graph
    after: Graph
    same: dict[str, Node] = field(default_factory=dict)
    changed: dict[str, Node] = field(default_factory=dict)
    stands_for: dict[str, str] = field(default_factory=dict)  # a new tensor → the tensor before
    replaced: dict[str, set[str]] = field(default_factory=dict)  # a tensor before → what is read in its place
    reread: dict[str, list[tuple[Node, Node]]] = field(default_factory=dict)  # … by which pairs

    @cached_property
    def gone(self) -> dict[str, Node]:
        """Nodes before that are not there as they were; not to be asked before the pairs are found."""
        stayed = {node.key for node in self.same.values()}
        return {node.key: node for node in self.before.nodes if node.key not in stayed}

    def known(self, tensor: str) -> str | None:
        """The tensor before that has this value: equal names have equal values, in ORT as in ONNX."""
        return tensor if tensor in self.before.tensors else self.stands_for.get(tensor)


def pair(before: Graph, after: Graph) -> Pairing:
    """Pair nodes by name, else by their outputs; then tensors by what pairs read at the same place."""
    pairing = Pairing(before, after)
    taken: set[str] = set()
    rest: list[Node] = []
    for node in after.nodes:
        old = before.by_key.get(node.key)
        if old is not None and old.op_type == node.op_type:
            taken.add(old.key)
            (pairing.same if old.outputs == node.outputs else pairing.changed)[node.key] = old
        else:
            rest.append(node)
    for node in rest:
        old = before.producers.get(next((name for name in node.outputs if name), ""))
        if old is not None and old.kind == node.kind and old.key not in taken and old.outputs == node.outputs:
            taken.add(old.key)
            pairing.same[node.key] = old
    _compare_reads(pairing)
    _compare_counterparts(pairing, _use_names(pairing))
    return pairing


def _compare_reads(pairing: Pairing) -> None:
    for key, old in pairing.same.items():
        node = pairing.after.by_key[key]
        for was, now in zip(old.inputs, node.inputs, strict=False):
            if was and now and was != now:
                pairing.replaced.setdefault(was, set()).add(now)
                pairing.reread.setdefault(was, []).append((old, node))
                if now not in pairing.before.tensors:
                    pairing.stands_for.setdefault(now, was)
    for was, now in zip(pairing.before.outputs, pairing.after.outputs, strict=False):
        if was != now:
            pairing.replaced.setdefault(was, set()).add(now)
    for key, old in pairing.changed.items():
        for was, now in zip(old.outputs, pairing.after.by_key[key].outputs, strict=False):
            if was and now and now not in pairing.before.tensors:
                pairing.stands_for.setdefault(now, was)


def _use_names(pairing: Pairing) -> dict[str, Node]:
    """Anchor new nodes by the names that ORT derives; returns which old node each was made for."""
    counterparts: dict[str, Node] = {}
    for node in pairing.after.nodes:
        if node.key in pairing.same or node.key in pairing.changed:
            continue
        for suffix in NAME_SUFFIXES:
            stem = node.key.removesuffix(suffix)
            if stem != node.key and stem in pairing.before.producers and node.outputs:
                counterparts[node.key] = pairing.before.producers[stem]
                if pairing.known(node.outputs[0]) is None:
                    pairing.stands_for[node.outputs[0]] = stem
                break
        for name in node.outputs:
            for prefix in TENSOR_PREFIXES:
                stem = name.removeprefix(prefix)
                if stem != name and stem in pairing.before.tensors and pairing.known(name) is None:
                    pairing.stands_for[name] = stem
    return counterparts


def _compare_counterparts(pairing: Pairing, counterparts: Mapping[str, Node]) -> None:
    """Derive what a tensor stands for from its reader, also where its maker swallowed a Relu."""
    for key, old in counterparts.items():
        node = pairing.after.by_key[key]
        for was, now in zip(old.inputs, node.inputs, strict=False):
            if was and now not in pairing.before.tensors and now not in pairing.after.constants:
                pairing.stands_for[now] = was


def settle_carriers(pairing: Pairing, added: Iterable[Node]) -> set[str]:
    """Find the carriers that ORT inserted, carry the meaning of tensors across them, return their keys."""
    carriers: set[str] = set()
    nodes = [node for node in added if node.op_type in CARRIERS and node.inputs and node.outputs]
    for node in reversed(nodes):  # from what is known after it to what it reads
        source, target = node.inputs[0], node.outputs[0]
        meaning = pairing.known(target)
        if meaning is None or pairing.known(source) is not None:
            continue
        maker = pairing.before.producers.get(meaning)
        if maker is None or maker.op_type != node.op_type:
            pairing.stands_for[source] = meaning
            carriers.add(node.key)
    for node in nodes:  # and from what it reads to what comes after
        source, target = node.inputs[0], node.outputs[0]
        meaning = pairing.known(source)
        if meaning is None or node.key in carriers:
            continue
        if pairing.known(target) in (None, meaning) and not _replaces(pairing, node, meaning):
            pairing.stands_for[target] = meaning
            carriers.add(node.key)
    return carriers


def _replaces(pairing: Pairing, node: Node, source: str) -> bool:
    readers = pairing.before.readers.get(source, ())
    return any(reader.op_type == node.op_type and reader.key in pairing.gone for reader in readers)
