"""The check that a config fits a model: ORT silently ignores mismatches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.rewrites.graphs import graphs
from workbench.core.text import did_you_mean, listed, shorten

if TYPE_CHECKING:
    from workbench.core.models.model import Model

_QUANTIZED = (
    "QuantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "QLinearConv", "QLinearMatMul",
)  # fmt: skip


def check_fit(model: Model, config: Config) -> None:
    """Refuse names of free dimensions that the model does not have."""
    known = sorted(symbolic_dims(model))
    for name, _ in config.free_dimensions:
        if name not in known:
            raise ConfigError(
                f"free_dimensions names {shorten(name)!r}, which is no symbolic dim of "
                f"{shorten(model.name)!r}",
                f"{did_you_mean(name, known)}Its symbolic dims are: {listed(known)}",
            )


def symbolic_dims(model: Model) -> set[str]:
    """Return the symbolic names of the model's input dims."""
    return {
        dim.dim_param
        for value in model.structure.graph.input
        if value.type.HasField("tensor_type")
        for dim in value.type.tensor_type.shape.dim
        if dim.dim_param
    }


def is_quantized(model: Model) -> bool:
    """Return whether the model computes in integers: Q/DQ pairs or integer operators."""
    return any(node.op_type in _QUANTIZED for graph in graphs(model.structure) for node in graph.node)
