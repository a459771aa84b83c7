"""The choice of the int8 form that suits a model on a CPU."""

from __future__ import annotations

from workbench.config import DynamicInt8, StaticInt8
from workbench.models.model import Model

PRODUCTS = ("MatMul", "Gemm", "Attention", "MultiHeadAttention", "LSTM", "GRU", "RNN")
# Dynamic int8 makes a ConvInteger of each Conv, which is many times slower than float32. The patch embedding
# of a vision transformer and the first layers of a speech model are below this share, a ConvNeXt is above.
LEAST_CONVOLUTIONS = 0.1


def suited_int8(model: Model) -> StaticInt8 | DynamicInt8:
    """Return static int8 for convolutional nets, dynamic int8 with Convs in float for transformers."""
    counts = dict(model.describe().operators)
    convolutions = counts.get("Conv", 0) + counts.get("ConvTranspose", 0)
    products = sum(counts.get(name, 0) for name in PRODUCTS)
    if convolutions > LEAST_CONVOLUTIONS * (convolutions + products):
        return StaticInt8()
    return DynamicInt8(op_types=("Gemm", "LSTM", "MatMul")) if convolutions else DynamicInt8()
