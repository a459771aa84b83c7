"""The card of a sample: its description, its origin, the command to make it, and which numbers are real."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

Kind = Literal["skeleton", "trained"]


@dataclass(frozen=True, slots=True)
class Port:
    """One input or output as declared by the file, with its meaning."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]  # a string is a symbolic dimension
    meaning: str


@dataclass(frozen=True, slots=True)
class SampleCard:
    """The facts of one sample."""

    name: str
    family: str  # "BERT-like", "GPT-like", "vision", "audio", "diffusion"
    kind: Kind
    what: str
    teaches: str
    origin: str
    licence: str
    remake: str  # the command
    real: str  # the real numbers, and the others
    exporter: str
    opset: int
    ir: int
    nodes: int
    parameters: int
    bytes: int  # on disk, once rehydrated
    shipped_bytes: int  # in the package
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    dims: tuple[tuple[str, int], ...]  # sizes of symbolic dimensions, as in the name: sequence 128…
    metric: str | None = None  # of a trained sample: "top-1 accuracy"
    score: float | None = None  # of the shipped file, on its evaluation set
    made_with: tuple[tuple[str, str], ...] = ()  # package, version

    def to_dict(self) -> dict[str, Any]:
        """Return the card as JSON data."""
        return asdict(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{escape(key)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for key, text in self.rows()
        )
        return f"<b>{escape(self.name)}</b><table>{rows}</table>"

    def rows(self) -> list[tuple[str, str]]:
        """Return what it is, its numbers and which of them are real, its ports, and where it comes from."""
        rows = [
            ("what", self.what),
            ("teaches", self.teaches),
            ("numbers", self.real),
            ("size", f"{self.parameters:,} parameters, {self.nodes:,} nodes, {self.bytes / 1e6:.1f} MB"),
            ("format", f"opset {self.opset}, IR {self.ir}, {self.exporter}"),
            *((f"input {port.name}", _port_text(port)) for port in self.inputs),
            *((f"output {port.name}", _port_text(port)) for port in self.outputs),
            ("sizes", ", ".join(f"{name} = {size}" for name, size in self.dims) or "all fixed"),
            ("origin", self.origin),
            ("licence", self.licence),
            ("remake", self.remake),
        ]
        if self.metric is not None and self.score is not None:
            rows.insert(3, (self.metric, f"{self.score:.4g}"))
        return rows


def write_card(card: SampleCard, path: Path) -> None:
    """Write one card as one JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(card.to_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_card(path: Path) -> SampleCard:
    """Read a card from a file of `write_card`."""
    fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for side in ("inputs", "outputs"):
        fields[side] = tuple(Port(**{**port, "shape": tuple(port["shape"])}) for port in fields[side])
    for pairs in ("dims", "made_with"):
        fields[pairs] = tuple((str(key), value) for key, value in fields[pairs])
    return SampleCard(**fields)


def _port_text(port: Port) -> str:
    shape = ", ".join(str(extent) for extent in port.shape)
    return f"{port.dtype} [{shape}]: {port.meaning}"
