"""What differs between two model files: nodes by operator, and weights by name, type and shape."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from workbench.models.declared import element_name
from workbench.models.model import Model
from workbench.text import bytes_text, counted, shorten

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Differing:
    """One operator whose count differs, or one weight that differs. None: it is not in that file."""

    what: Literal["operator", "weight"]
    name: str  # untrusted
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class FileDifference:
    """Two files: how many nodes and bytes each has, and what differs. Values of weights are not compared."""

    names: tuple[str, str]  # untrusted
    nodes: tuple[int, int]
    file_bytes: tuple[int, int]
    differing: tuple[Differing, ...]

    def of(self, what: str) -> tuple[Differing, ...]:
        """Return what differs of one sort."""
        return tuple(row for row in self.differing if row.what == what)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per difference; columns what, name, before, after."""
        import pandas as pd

        rows = [(row.what, row.name, row.before, row.after) for row in self.differing]
        return pd.DataFrame(rows, columns=["what", "name", "before", "after"], dtype=object)

    def __str__(self) -> str:
        (first, second), sizes = self.nodes, [bytes_text(size) for size in self.file_bytes]
        lines = [f"{counted(first, 'node')} before, {second:,} after; {sizes[0]} before, {sizes[1]} after"]
        for what in ("operator", "weight"):
            rows = self.of(what)
            named = ", ".join(
                f"{shorten(row.name)} {row.before or 'none'} → {row.after or 'none'}"
                for row in rows[:MOST_NAMED]
            )
            more = f" and {len(rows) - MOST_NAMED:,} more" if len(rows) > MOST_NAMED else ""
            verb = "differs" if len(rows) == 1 else "differ"
            lines.append(f"{counted(len(rows), what)} {verb}{f': {named}{more}' if rows else ''}")
        return "\n".join(lines)


def file_difference(before: Model, after: Model) -> FileDifference:
    """Return what differs between two opened files, from their structure alone: no weight is read."""
    return FileDifference(
        names=(before.name, after.name),
        nodes=(len(before.structure.graph.node), len(after.structure.graph.node)),
        file_bytes=(before.file_bytes, after.file_bytes),
        differing=(
            *_differing("operator", _operators(before), _operators(after)),
            *_differing("weight", _weights(before), _weights(after)),
        ),
    )


def _differing(
    what: Literal["operator", "weight"], before: dict[str, str], after: dict[str, str]
) -> list[Differing]:
    names = sorted({*before, *after})
    rows = [Differing(what, name, before.get(name), after.get(name)) for name in names]
    return [row for row in rows if row.before != row.after]


def _operators(model: Model) -> dict[str, str]:
    counts = Counter(
        f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for node in model.structure.graph.node
    )
    return {name: f"{count:,}" for name, count in counts.items()}


def _weights(model: Model) -> dict[str, str]:
    return {
        tensor.name: f"{element_name(tensor.data_type)}[{','.join(map(str, tensor.dims))}]"
        for tensor in model.structure.graph.initializer
    }
