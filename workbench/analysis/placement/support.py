"""What providers that are not here are known to take: tables kept as data, each with its source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from workbench.analysis.graph import Graph, Node

NAMES = {  # of onnx.TensorProto's data types, as the tables call them
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string",
    9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16", 21: "uint4",
    22: "int4",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """What a table says of one operator. `types`: of its first input; empty: not told."""

    operator: str  # with its domain
    condition: str
    types: tuple[str, ...]
    since: int | None  # the earliest version of the operator set that it is taken in
    refused: bool  # known not to be taken


@dataclass(frozen=True)
class SupportTable:
    """Operators that a provider takes, some under a condition; `complete`: it takes no others."""

    provider: str
    variant: str  # "NeuralNetwork", "MLProgram"; "" where a provider has one way only
    source: str
    version: str  # of ONNX Runtime, as far as the source tells
    complete: bool  # whether an operator that is not listed is known not to be taken
    rules: tuple[Rule, ...]

    @property
    def name(self) -> str:
        """As people say it: CoreML (MLProgram)."""
        short = self.provider.removesuffix("ExecutionProvider")
        return f"{short} ({self.variant})" if self.variant else short

    @cached_property
    def _by_operator(self) -> Mapping[str, Rule]:
        return {rule.operator: rule for rule in self.rules}

    def says(self, graph: Graph, node: Node) -> tuple[bool | None, str]:
        """Whether it takes a node, and why not or under which condition; None: the table does not tell."""
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
        return True, rule.condition


@cache
def support_tables() -> tuple[SupportTable, ...]:
    """All tables that ship with this package."""
    folder = files("workbench.analysis").joinpath("data")
    tables = []
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.startswith("support-") and file.name.endswith(".json"):
            data = json.loads(file.read_text(encoding="utf-8"))
            rules = tuple(_rule(name, said) for name, said in data["operators"].items())
            tables.append(
                SupportTable(
                    data["provider"], data.get("variant", ""), data["source"], data["version"],
                    data["complete"], rules,
                )
            )  # fmt: skip
    return tuple(tables)


def _rule(operator: str, said: str | Mapping[str, object]) -> Rule:
    """A text is a condition; more is an object."""
    told: Mapping[str, object] = {"condition": said} if isinstance(said, str) else said
    since = told.get("since")
    return Rule(
        operator,
        str(told.get("condition", "")),
        tuple(str(told.get("types", "")).split()),
        int(str(since)) if since is not None else None,
        told.get("refused") is True,
    )
