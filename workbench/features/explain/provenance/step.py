"""One step between two graphs of a model: what each node after it computes of the nodes before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from workbench.core.models.graph import Graph, Node
from workbench.features.explain.provenance.pairing import CARRIERS, pair, settle_carriers

Lost = Literal["folded", "eliminated", "unknown"]


@dataclass(frozen=True, eq=False)
class PassStep:
    """Keys of nodes. `sources`: a node after → the nodes before whose work it does; `lost`: nobody does."""

    sources: dict[str, frozenset[str]]
    lost: dict[str, Lost]
    inserted: frozenset[str]  # put in by ORT to carry a value; they do no source node's work
    removed: tuple[str, ...]
    added: tuple[str, ...]
    rewired: tuple[str, ...]  # the same node, reading other tensors or with other attributes


def trace_step(before: Graph, after: Graph) -> PassStep:
    """Compare two graphs of one model, of which the second came from the first by one pass."""
    tracer = _Tracer(before, after)
    tracer.claim()
    return tracer.step()


class _Tracer:
    def __init__(self, before: Graph, after: Graph) -> None:
        self.before, self.after = before, after
        self.pairing = pairing = pair(before, after)
        self.gone = pairing.gone
        self.added = [node for node in self.after.nodes if node.key not in pairing.same]
        self.sources: dict[str, set[str]] = {node.key: set() for node in self.added}
        self.claimed: dict[str, set[str]] = {}  # a node before → the new nodes that do its work
        self.lost: dict[str, Lost] = {}
        self.inserted: set[str] = set()
        self.available: set[str] = set()
        self.passed_over: set[str] = set()
        self.stayed = {old.key: key for key, old in pairing.same.items()}

    def claim(self) -> None:
        self._match_forward()
        self.inserted = settle_carriers(
            self.pairing, (n for n in self.added if n.key not in self.pairing.changed)
        )
        self._match_forward()
        meanings = (self.pairing.known(name) for name in self.after.tensors)
        self.available = {name for name in meanings if name is not None}
        for node in self.added:
            if node.key not in self.inserted:
                self._claim_cone(node)
        self._claim_for_modified()
        self._share_unanchored()
        self._absorb_forward()

    def _match_forward(self) -> None:
        """Match a new node without a known output to the gone node of its kind that reads the same."""
        for node in self.added:
            if any(self.pairing.known(name) for name in node.outputs) or node.key in self.inserted:
                continue
            meanings = [self.pairing.known(name) for name in node.reads]
            known = set(meanings)
            first = next((name for name in meanings if name in self.before.readers), None)
            if first is None:
                continue
            alike = [
                candidate
                for candidate in self.before.readers[first]
                if candidate.op_type == node.op_type and not known.isdisjoint(candidate.reads)
            ]
            gone = [candidate for candidate in alike if candidate.key in self.gone]
            if len(gone) == 1:
                for name, meaning in zip(node.outputs, gone[0].outputs, strict=False):
                    self.pairing.stands_for.setdefault(name, meaning)
            elif not gone and (
                twins := [candidate for candidate in alike if candidate.digest == node.digest]
            ):
                self.sources[node.key].add(twins[0].key)  # a copy beside the original

    def _claim_cone(self, node: Node) -> None:
        old = self.pairing.changed.get(node.key)
        if old is not None:
            self._take(node, old)
            if not _is_rewired(old, node):
                self._pass_over(old, node)
                return
        for name in node.outputs:
            meaning = self.pairing.known(name) if name else None
            maker = self.before.producers.get(meaning) if meaning else None
            if maker is not None and maker.key in self.gone:
                self._walk_back(node, maker)
            elif maker is not None and maker.op_type == node.op_type and meaning != name:
                self.sources[node.key].add(maker.key)  # a copy beside the original

    def _pass_over(self, old: Node, node: Node) -> None:
        """Mark nodes between that did nothing, as an Identity: the work stays under a later name."""
        for name in node.outputs:
            maker, passed = self._gone_maker(name), set[str]()
            while maker is not None and maker is not old and maker.inputs and maker.key not in passed:
                passed.add(maker.key)  # a damaged graph may hold a cycle
                maker = self._gone_maker(maker.inputs[0])
            self.passed_over |= passed

    def _walk_back(self, node: Node, maker: Node) -> None:
        waiting, visited = [maker], {maker.key}
        while waiting:
            current = waiting.pop()
            self._take(node, current)
            for name in current.reads:
                earlier = None if name in self.available else self._gone_maker(name)
                if earlier is not None and earlier.key not in visited:
                    visited.add(earlier.key)
                    waiting.append(earlier)

    def _gone_maker(self, tensor: str) -> Node | None:
        """Return the node that made a tensor, if that node is gone."""
        maker = self.before.producers.get(tensor)
        return None if maker is None else self.gone.get(maker.key)

    def _take(self, node: Node, old: Node) -> None:
        self.sources.setdefault(node.key, set()).add(old.key)
        self.claimed.setdefault(old.key, set()).add(node.key)

    def _claim_for_modified(self) -> None:
        """Give a kept node with other attributes or more inputs the nodes that it swallowed."""
        for was, pairs in self.pairing.reread.items():
            maker = self._gone_maker(was)
            if maker is None or maker.key in self.claimed:
                continue
            for old, node in pairs:
                if old.digest != node.digest or self._differs_elsewhere(old, node, was):
                    self.sources.setdefault(node.key, set()).add(old.key)
                    self._walk_back(node, maker)

    def _differs_elsewhere(self, old: Node, node: Node, was: str) -> bool:
        if len(old.inputs) != len(node.inputs):
            return True
        return any(
            first != second and first != was and second in self.after.constants
            and second not in self.before.tensors and first not in self.after.constants
            and self._gone_maker(first) is None
            for first, second in zip(old.inputs, node.inputs, strict=False)
        )  # fmt: skip

    def _share_unanchored(self) -> None:
        """Give a new node between new nodes part of the work of its readers."""
        for node in reversed(self.added):
            if self.sources[node.key] or node.key in self.inserted:
                continue
            for reader in self.after.readers_of(node):
                for key in self.sources.get(reader.key, ()):
                    if key in self.claimed:
                        self._take(node, self.before.by_key[key])

    def _absorb_forward(self) -> None:
        """Give a gone node whose value is needed to the last new node that makes its inputs."""
        position = {node.key: index for index, node in enumerate(self.after.nodes)}
        for old in self.gone.values():
            if old.key in self.claimed or not self._is_needed(old):
                continue
            makers = self.before.makers_of(old)
            holders = {key for maker in makers for key in self.claimed.get(maker.key, ())}
            if holders:
                self._take(self.after.by_key[max(holders, key=position.__getitem__)], old)

    def _is_needed(self, old: Node) -> bool:
        if self._fate_of_outputs(old):
            return False
        is_read = any(reader.key in self.claimed for reader in self.before.readers_of(old))
        return is_read or self._makes_a_result(old)

    def _makes_a_result(self, old: Node) -> bool:
        return not set(old.outputs).isdisjoint(self.before.outputs)

    def _lost(self, old: Node) -> Lost:
        if fate := self._fate_of_outputs(old):
            return fate
        if self._makes_a_result(old):
            return "unknown"
        readers = self.before.readers_of(old)
        if not readers:
            return "eliminated"
        fates = {self.lost.get(reader.key, "kept") for reader in readers}
        if fates <= {"folded", "eliminated"}:
            return "folded" if "folded" in fates else "eliminated"
        if "unknown" not in fates and not any(self._still_reads(reader, old) for reader in readers):
            return "folded" if self.fed.isdisjoint(old.reads) else "eliminated"
        return "unknown"

    def _fate_of_outputs(self, old: Node) -> Lost | None:
        if old.key in self.passed_over:
            return "eliminated"
        fates = {self._fate_of_tensor(name) for name in old.outputs if name}
        return "folded" if "folded" in fates else "eliminated" if "eliminated" in fates else None

    def _fate_of_tensor(self, name: str) -> Lost | None:
        if name in self.after.constants:
            return "folded"
        now = {self._root(other) for other in self.pairing.replaced.get(name, ())}
        if now & (self.after.constants.keys() - self.before.constants.keys()):
            return "folded"
        if any(other in self.before.tensors or other in self.after.inputs for other in now):
            return "eliminated"
        return None

    def _root(self, tensor: str) -> str:
        """Return the tensor that a tensor is a copy of, through inserted carriers."""
        maker, passed = self.after.producers.get(tensor), set[str]()
        while maker is not None and maker.op_type in CARRIERS and maker.key in self.sources and maker.inputs:
            if tensor in self.before.tensors or maker.key in passed:
                break
            passed.add(maker.key)
            tensor = maker.inputs[0]
            maker = self.after.producers.get(tensor)
        return tensor

    def _still_reads(self, reader: Node, old: Node) -> bool:
        """Return whether a node that stays reads a value of `old` under any name."""
        key = self.stayed.get(reader.key)
        if key is None:
            return False
        node = self.after.by_key[key]
        return any(
            name in node.reads or name in map(self.pairing.known, node.reads) for name in old.outputs if name
        )

    @cached_property
    def fed(self) -> set[str]:
        """Tensors that depend on what the model is fed with; most steps never ask."""
        fed, known = set(self.before.inputs), -1
        while len(fed) > known:  # once, unless the model's nodes stand in no order
            known = len(fed)
            for node in self.before.nodes:
                if not fed.isdisjoint(node.reads):
                    fed.update(node.outputs)
        return fed

    def step(self) -> PassStep:
        for old in reversed(self.gone.values()):
            if old.key not in self.claimed:
                self.lost[old.key] = self._lost(old)
        sources = {key: frozenset(origins) for key, origins in self.sources.items()}
        for key, old in self.pairing.same.items():
            sources.setdefault(key, frozenset((old.key,)))
        return PassStep(
            sources=sources,
            lost=self.lost,
            inserted=frozenset(self.inserted),
            removed=tuple(self.gone),
            added=tuple(node.key for node in self.added),
            rewired=tuple(
                key for key, old in self.pairing.same.items() if _is_rewired(old, self.after.by_key[key])
            ),
        )


def _is_rewired(old: Node, node: Node) -> bool:
    return (old.inputs, old.digest, old.kind) != (node.inputs, node.digest, node.kind)
