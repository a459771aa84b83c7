"""Errors of a quantized model by tensor and by layer, with their causes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from html import escape

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.html_table import html_table

_MOST_ROWS = 15


@dataclass(frozen=True, slots=True)
class TensorError:
    """The error of one activation as SQNR in dB: higher is better; None: equal, or unknown."""

    tensor: str
    node: str | None  # the node that computes the tensor; None: an input of the model
    sqnr_db: float | None  # against the float model, errors of all earlier layers included
    rounding_db: float | None  # rounding of this tensor alone: from before its Q node to after its DQ node
    low: float | None  # range in the float model
    high: float | None
    outlier_ratio: float | None  # the largest magnitude over the 99.9th percentile
    element_count: int


@dataclass(frozen=True, slots=True)
class WeightError:
    """The error of one quantized weight against the original."""

    weight: str
    sqnr_db: float | None
    low: float
    high: float
    outlier_ratio: float | None
    element_count: int


@dataclass(frozen=True, slots=True)
class LayerError:
    """The error of one layer: of its weights and its input alone, and of its output."""

    node: str
    op_type: str
    weight_db: float | None  # SQNR of its worst weight
    input_db: float | None  # SQNR of the rounding of its worst activation
    output_db: float | None  # against the float model, errors of all earlier layers included
    outlier_ratio: float | None  # the largest of weights and inputs

    @property
    def weakest_db(self) -> float | None:
        """Return the lower SQNR of its weights and its inputs: the error that this layer itself causes."""
        known = [value for value in (self.weight_db, self.input_db) if value is not None]
        return min(known, default=None)


@dataclass(frozen=True, slots=True)
class LayerErrorsRecord:
    """The errors of all layers, in the order of the graph."""

    model_name: str
    config: str  # config in words
    how: str  # how tensors were matched
    item_count: int
    made_by: str  # how the data were made
    real: bool
    layers: tuple[LayerError, ...]
    tensors: tuple[TensorError, ...]
    weights: tuple[WeightError, ...]
    notes: tuple[str, ...]

    @property
    def worst(self) -> tuple[LayerError, ...]:
        """Return layers by their own error, then by their output's; layers with unknown errors last."""
        return tuple(sorted(self.layers, key=_badness))

    def to_frame(self) -> DataFrame:
        """Return one row per layer, the worst first."""
        decibels = ("weakest_db", "weight_db", "input_db", "output_db", "outlier_ratio")
        return frame_of(self.worst, ("node", "op_type", *decibels), decibels)

    def tensors_frame(self) -> DataFrame:
        """Return one row per activation, in the order of the graph."""
        return frame_of(self.tensors, [field.name for field in fields(TensorError)])

    def weights_frame(self) -> DataFrame:
        """Return one row per weight."""
        return frame_of(self.weights, [field.name for field in fields(WeightError)])

    def __str__(self) -> str:
        worst = [
            layer for layer in self.worst if layer.weakest_db is not None or layer.output_db is not None
        ][:3]
        weakest = "; ".join(f"{layer.node} ({_decibels(layer)})" for layer in worst)
        return (
            f"{self.model_name}, {self.config}: {len(self.layers)} layers over {self.item_count} items of "
            f"{self.made_by}; weakest: {weakest or 'none known'}"
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                layer.node,
                layer.op_type,
                *(_db(value) for value in (layer.weight_db, layer.input_db, layer.output_db)),
            )
            for layer in self.worst[:_MOST_ROWS]
        ]
        heads = ("layer", "operator", "weights", "rounding of its input", "output so far")
        return f"<p>{escape(str(self))}</p>{html_table(heads, rows, 'SQNR, the worst first')}"


def _badness(layer: LayerError) -> tuple[float, float]:
    known = layer.weakest_db if layer.weakest_db is not None else float("inf")
    return known, layer.output_db if layer.output_db is not None else float("inf")


def _decibels(layer: LayerError) -> str:
    parts = [("weights", layer.weight_db), ("input", layer.input_db), ("output so far", layer.output_db)]
    return ", ".join(f"{name} {value:.1f} dB" for name, value in parts if value is not None)


def _db(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} dB"
