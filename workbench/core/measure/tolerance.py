"""The required closeness of a config's outputs to the baseline's, by the arithmetic of its model file."""

from __future__ import annotations

from workbench.core.config import Config, Float16
from workbench.core.config.quantization import INTEGER_LEAST_SQNR_DB
from workbench.core.measure.agreement import FLOAT32_LEAST_SQNR_DB
from workbench.core.models.element_type import ElementType
from workbench.core.models.fit import is_quantized
from workbench.core.models.model import Model
from workbench.core.models.structure import tensors
from workbench.core.rewrites.graphs import graphs

COMPRESSED = frozenset(("MatMulNBits", "GatherBlockQuantized", "DequantizeLinear"))  # integer weights only
_HALF_LEAST_SQNR_DB = {
    ElementType.FLOAT16: Float16.LEAST_SQNR_DB,
    ElementType.BFLOAT16: 20.0,  # 10 %
}


def least_sqnr_db(config: Config, model: Model | None) -> float | None:
    """Return the required SQNR, or None if outputs must agree within the tolerance.

    `model` is the file that ORT loads; it shows the arithmetic of a file that the user prepared.
    """
    if config.arithmetic is not None:
        return config.arithmetic.LEAST_SQNR_DB
    in_file = None if model is None else _of_file(model)
    if config.engine is not None:
        reduced = getattr(config.engine, "precision", None) not in (None, "float32")
        own = Float16.LEAST_SQNR_DB if reduced else FLOAT32_LEAST_SQNR_DB
        return own if in_file is None else min(own, in_file)
    if any(provider.allows_half for provider in config.providers):
        return Float16.LEAST_SQNR_DB if in_file is None else min(Float16.LEAST_SQNR_DB, in_file)
    if in_file is None and (config.precision is not None or config.rewrites):
        return FLOAT32_LEAST_SQNR_DB
    return in_file


def required_sqnr_db(baseline: float | None, candidate: float | None) -> float | None:
    """Return the error budget between two configs; None if the arithmetic of both is float32."""
    return min((sqnr_db for sqnr_db in (baseline, candidate) if sqnr_db is not None), default=None)


def _of_file(model: Model) -> float | None:
    """Return the SQNR that the lowest precision in the file requires; None for float32 alone."""
    graph = model.structure.graph
    nodes = (node for part in graphs(model.structure) for node in part.node)
    if is_quantized(model) or any(node.op_type in COMPRESSED for node in nodes):
        return INTEGER_LEAST_SQNR_DB
    types = {tensor.data_type for tensor in tensors(model.structure)}
    types |= {value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)}
    return min((sqnr for kind, sqnr in _HALF_LEAST_SQNR_DB.items() if kind in types), default=None)
