"""What differs between two model files: nodes by operator, and weights by name, type and shape."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.display import DataFrame
from workbench.core.errors import BundleError
from workbench.core.models.declared import element_name
from workbench.core.models.model import Model
from workbench.core.text import bytes_text, counted, shorten

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class OperatorCounts:
    """How many nodes of one operator either file has."""

    op_type: str  # untrusted
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class WeightChange:
    """Type and shape of one weight in either file. None: it is not in that file."""

    name: str  # untrusted
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class FileDifference:
    """Two files: how many nodes and bytes each has, and what differs. Values of weights are not compared."""

    names: tuple[str, str]  # untrusted
    nodes: tuple[int, int]
    file_bytes: tuple[int, int]
    operators: tuple[OperatorCounts, ...]
    weights: tuple[WeightChange, ...]

    def to_frame(self) -> DataFrame:
        """Return one row per difference; columns what, name, before, after."""
        import pandas as pd

        rows = [("operator", name, before, after) for name, before, after in self._operators_in_words]
        rows += [("weight", row.name, row.before, row.after) for row in self.weights]
        return pd.DataFrame(rows, columns=["what", "name", "before", "after"], dtype=object)

    @property
    def _operators_in_words(self) -> list[tuple[str, str | None, str | None]]:
        return [
            (row.op_type, f"{row.before:,}" if row.before else None, f"{row.after:,}" if row.after else None)
            for row in self.operators
        ]

    def __str__(self) -> str:
        (first, second), sizes = self.nodes, [bytes_text(size) for size in self.file_bytes]
        lines = [f"{counted(first, 'node')} before, {second:,} after; {sizes[0]} before, {sizes[1]} after"]
        weights = [(row.name, row.before, row.after) for row in self.weights]
        for what, rows in (("operator", self._operators_in_words), ("weight", weights)):
            named = ", ".join(
                f"{shorten(name)} {shorten(before or 'none')} → {shorten(after or 'none')}"
                for name, before, after in rows[:MOST_NAMED]
            )
            more = f" and {len(rows) - MOST_NAMED:,} more" if len(rows) > MOST_NAMED else ""
            verb = "differs" if len(rows) == 1 else "differ"
            lines.append(f"{counted(len(rows), what)} {verb}{f': {named}{more}' if rows else ''}")
        return "\n".join(lines)


def file_difference(before: Model, after: Model) -> FileDifference:
    """Return what differs between two opened files, from their structure alone: no weight is read."""
    counts, weights = (_operators(before), _operators(after)), (_weights(before), _weights(after))
    operators = [OperatorCounts(name, *(count[name] for count in counts)) for name in _names(*counts)]
    changes = [WeightChange(name, *(texts.get(name) for texts in weights)) for name in _names(*weights)]
    return FileDifference(
        names=(before.name, after.name),
        nodes=(len(before.structure.graph.node), len(after.structure.graph.node)),
        file_bytes=(before.file_bytes, after.file_bytes),
        operators=tuple(row for row in operators if row.before != row.after),
        weights=tuple(row for row in changes if row.before != row.after),
    )


def check_files(record: FileDifference, fix: str) -> None:
    """Refuse counts that no file has."""
    counts = [*record.nodes, *record.file_bytes]
    counts += [count for row in record.operators for count in (row.before, row.after)]
    if min(counts) < 0:
        raise BundleError("nodes, file_bytes and operators: expected no count below zero.", fix)


def _names(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return sorted({*before, *after})


def _operators(model: Model) -> Counter[str]:
    return Counter(
        f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for node in model.structure.graph.node
    )


def _weights(model: Model) -> dict[str, str]:
    return {
        tensor.name: f"{element_name(tensor.data_type)}[{','.join(map(str, tensor.dims))}]"
        for tensor in model.structure.graph.initializer
    }
