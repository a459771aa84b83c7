"""What providers that are not here are known to take: tables kept as data, each with its source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from workbench.core.models.graph import Graph, Node

NAMES = {  # of onnx.TensorProto's data types, as the tables call them
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string",
    9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16", 21: "uint4",
    22: "int4",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SupportRule:
    """What a table says of one operator. `types`: of its first input; empty: not known."""

    operator: str  # with its domain
    condition: str
    types: tuple[str, ...]
    since: int | None  # the earliest version of the operator set that it is taken in
    refused: bool  # known not to be taken


@dataclass(frozen=True)
class SupportTable:
    """Operators that a provider takes, some under a condition; `complete`: it takes no others.

    `scalars`: the only operators that it takes where an input or output has no dims; None: not known.
    `left_alone`: operators that stay on the CPU where one such node would be a part of its own.
    """

    provider: str
    variant: str  # "NeuralNetwork", "MLProgram"; "" where a provider has one way only
    source: str
    version: str  # of ONNX Runtime, as far as the source tells
    complete: bool  # whether an operator that is not listed is known not to be taken
    rules: tuple[SupportRule, ...]
    scalars: frozenset[str] | None = None
    left_alone: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The short name with the variant: CoreML (MLProgram)."""
        short = self.provider.removesuffix("ExecutionProvider")
        return f"{short} ({self.variant})" if self.variant else short

    @cached_property
    def _by_operator(self) -> Mapping[str, SupportRule]:
        return {rule.operator: rule for rule in self.rules}

    def judge(self, graph: Graph, node: Node) -> tuple[bool | None, str]:
        """Return whether the provider takes a node, and why not or under which condition; None: not known."""
        rule = self._by_operator.get(node.kind)
        if rule is None:
            return (False, "not in the list") if self.complete else (None, "the table does not list it")
        if rule.refused:
            return False, rule.condition
        opset = graph.opset(node.domain)
        if rule.since is not None and opset is not None and opset < rule.since:
            return False, f"taken from operator set {rule.since} on, and this is {opset}"
        first = graph.info(node.inputs[0]) if node.inputs and node.inputs[0] else None
        element = NAMES.get(first.element or 0) if first else None
        if rule.types and element is not None and element not in rule.types:
            return False, f"its first input is {element}; taken: {', '.join(rule.types)}"
        scalar = self._refused_scalar(graph, node)
        return (False, scalar) if scalar else (True, rule.condition)

    def _refused_scalar(self, graph: Graph, node: Node) -> str | None:
        """Return which input or output has no dims where the provider wants some; constants do not count."""
        if self.scalars is None or node.kind in self.scalars:
            return None
        for name in (*node.inputs, *node.outputs):
            tensor = graph.info(name) if name and name not in graph.constants else None
            if tensor is not None and tensor.dims == ():
                element = NAMES.get(tensor.element or 0, "some type")
                return f"{name} is a scalar of {element}, which it takes in few operators"
        return None


@cache
def support_tables() -> tuple[SupportTable, ...]:
    """Read all tables that ship with this package."""
    folder = files("workbench.features.explain").joinpath("data")
    tables = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.startswith("support-") and file.name.endswith(".json"):
            data = json.loads(file.read_text(encoding="utf-8"))
            rules = tuple(_rule(name, entry) for name, entry in data["operators"].items())
            scalars = data.get("scalars")
            tables.append(
                SupportTable(
                    data["provider"], data.get("variant", ""), data["source"], data["version"],
                    data["complete"], rules,
                    None if scalars is None else frozenset(scalars.split()),
                    frozenset(data.get("left_alone", "").split()),
                )
            )  # fmt: skip
    return tuple(tables)


def _rule(operator: str, entry: str | Mapping[str, object]) -> SupportRule:
    """Read an entry: a text is a condition, an object holds more."""
    fields: Mapping[str, object] = {"condition": entry} if isinstance(entry, str) else entry
    since = fields.get("since")
    return SupportRule(
        operator,
        str(fields.get("condition", "")),
        tuple(str(fields.get("types", "")).split()),
        int(str(since)) if since is not None else None,
        fields.get("refused") is True,
    )
