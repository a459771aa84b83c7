"""Multiply-adds of the operators that multiply matrices: products, convolutions, attention, recurrences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from workbench.features.profile.flops.shapes import Unknown, Work


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOTHING = _words(
    "Reshape Squeeze Unsqueeze Flatten Identity Shape Size Constant ConstantOfShape Range Transpose Concat "
    "Split Slice Gather GatherElements GatherND ScatterElements ScatterND Cast CastLike Expand Pad Tile "
    "DepthToSpace SpaceToDepth ReorderInput ReorderOutput NhwcToNchw Dropout EyeLike OneHot Trilu Compress "
    "MemcpyFromHost MemcpyToHost SequenceConstruct SequenceAt SplitToSequence ConcatFromSequence Optional "
    "OptionalGetElement OptionalHasElement NonZero ReverseSequence SequenceInsert SequenceLength "
    "SequenceEmpty SequenceErase CenterCropPad Unique QLinearConcat GatherBlockQuantized"
)
VIEW_OPS = _words("Reshape Squeeze Unsqueeze Flatten Identity Shape Size Constant Dropout")
_BY_COUNT = {  # operations per element of the output
    1: "Add Sub Mul Div Pow Mod Max Min And Or Xor Not Neg Abs Sign Ceil Floor Round Sqrt Reciprocal Exp Log "
    "Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Sigmoid Relu Clip Equal Greater GreaterOrEqual Less "
    "LessOrEqual Where IsNaN IsInf BitShift BitwiseAnd BitwiseOr BitwiseXor BitwiseNot QLinearAdd "
    "QLinearMul QLinearLeakyRelu QLinearWhere BiasDropout BiasAdd",
    2: "LeakyRelu PRelu ThresholdedRelu HardSigmoid Softsign CumSum DequantizeLinear BatchNormalization",
    3: "Elu Selu Celu Softplus HardSwish Swish QuickGelu QuantizeLinear QLinearSigmoid RotaryEmbedding",
    4: "RMSNormalization SimplifiedLayerNormalization LpNormalization",
    5: "Mish DynamicQuantizeLinear Gelu Softmax LogSoftmax Hardmax BiasSoftmax QLinearSoftmax "
    "SkipSimplifiedLayerNormalization",
    6: "BiasGelu FastGelu BiasSplitGelu LRN",
    7: "LayerNormalization InstanceNormalization GroupNormalization GroupNorm MeanVarianceNormalization",
    8: "SkipLayerNormalization SkipGroupNorm",
    9: "EmbedLayerNormalization QEmbedLayerNormalization",
}
_OF_OUTPUT = {operator: count for count, operators in _BY_COUNT.items() for operator in operators.split()}
_OF_INPUT = _words(
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ArgMax ArgMin GlobalAveragePool GlobalMaxPool "
    "QLinearGlobalAveragePool QLinearReduceMean"
)
_OF_INPUT_TWICE = _words("ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp GlobalLpPool")
_POOLS = _words("AveragePool MaxPool LpPool QLinearAveragePool NhwcMaxPool")
# Mixes of two: three; of sixteen: sixteen weights and a sum.
_RESIZE = {"nearest": 0, "linear": 7, "cubic": 31}
KNOWN = _NOTHING | _OF_INPUT | _OF_INPUT_TWICE | _POOLS | {*_OF_OUTPUT, "Sum", "Mean", "Resize", "Upsample"}


def operations(work: Work) -> int | None:
    """Return the operations of a node; None without a formula. Raise Unknown where a shape is not known."""
    kind = work.op_type
    if kind in _NOTHING:
        return 0
    if kind in _OF_OUTPUT:
        return _OF_OUTPUT[kind] * prod(work.made())
    if kind in ("Sum", "Mean"):
        return max(0, len(work.inputs) - (kind == "Sum")) * prod(work.made())
    if kind in _OF_INPUT:
        return prod(work.given(0))
    if kind in _OF_INPUT_TWICE:
        return 2 * prod(work.given(0))
    if kind in _POOLS:
        kernel = work.attributes.get("kernel_shape")
        if kernel is None:
            raise Unknown
        return _window(kernel, work.given(0)) * prod(work.made())
    if kind in ("Resize", "Upsample"):
        per_element = _RESIZE.get(str(work.attributes.get("mode", "nearest")))
        return None if per_element is None else per_element * prod(work.made())
    return None


def _window(kernel: Sequence[int], given: tuple[int, ...]) -> int:
    """Return the input elements of one output element: at most the picture, whatever the kernel."""
    return prod(min(int(size), extent) for size, extent in zip(kernel, given[-len(kernel) :], strict=True))


Count: TypeAlias = Callable[[Work], int]


def _matmul(work: Work) -> int:
    left = work.given(0)
    flipped = len(left) > 1 and bool(work.attributes.get("transA"))
    return prod(work.made()) * left[-2 if flipped else -1]


def _blockwise(work: Work) -> int:
    if "K" not in work.attributes:
        raise Unknown
    return prod(work.made()) * int(work.attributes["K"])


def _conv(weight: int) -> Count:
    """Count one filter per output element: channels of its group times the kernel."""
    return lambda work: prod(work.made()) * prod(work.given(weight)[1:])


def _conv_transpose(work: Work) -> int:
    return prod(work.given(0)) * prod(work.given(1)[1:])


def _scores(batch: int, queries: int, keys: int, width: int, value_width: int) -> int:
    return batch * queries * keys * (width + value_width)


def _attention_packed(work: Work) -> int:
    """com.microsoft.Attention: the projection of q, k and v, then the scores."""
    batch, length, width = work.given(0)
    projected = work.given(1)[1]
    sizes = work.attributes.get("qkv_hidden_sizes")
    query, _, value = sizes or (projected // 3,) * 3
    return batch * length * width * projected + _scores(batch, length, length, query, value)


def _multi_head(work: Work) -> int:
    """com.microsoft.MultiHeadAttention: separate q, k, v, packed k and v, or all packed."""
    query = work.given(0)
    if len(query) == 5:  # batch, length, heads, 3, size of a head
        batch, length, heads, _, size = query
        return _scores(batch, length, length, heads * size, heads * size)
    batch, length, width = query
    key = work.given(1)
    keys = key[2] if len(key) == 4 else key[1]  # batch, heads, length, size of a head; or without heads
    return _scores(batch, length, keys, width, work.made()[-1])


def _grouped_query(work: Work) -> int:
    """com.microsoft.GroupQueryAttention: against every key there is, past ones too."""
    batch, length = work.given(0)[:2]
    width = work.made()[-1]
    return _scores(batch, length, work.made(1)[2], width, width)


def _attention(work: Work) -> int:
    """ai.onnx Attention: (batch, heads, length, size), or (batch, length, width)."""
    query, key, value = work.given(0), work.given(1), work.given(2)
    if len(query) == 4:
        batch, heads, length, size = query
        return _scores(batch, length, key[2], heads * size, heads * value[3])
    batch, length, width = query
    return _scores(batch, length, key[1], width, work.made()[-1])


def _attention_of_either(work: Work) -> int:
    return _attention_packed(work) if work.domain == "com.microsoft" else _attention(work)


def _recurrent(gates: int) -> Count:
    def count(work: Work) -> int:
        length, batch, _ = work.given(0)
        directions, _, width = work.given(1)
        hidden = work.given(2)[2]
        return length * batch * directions * gates * hidden * (width + hidden)

    return count


def _dynamic_lstm(work: Work) -> int:
    """com.microsoft.DynamicQuantizeLSTM: unlike those of LSTM, its weights stand input by gates."""
    length, batch, _ = work.given(0)
    directions, width, gates = work.given(1)
    return length * batch * directions * gates * (width + work.given(2)[1])


def _einsum(work: Work) -> int:
    """Count every combination of the letters once; "..." has none."""
    equation = str(work.attributes.get("equation", "")).replace(" ", "")
    terms = equation.partition("->")[0].split(",")
    if not equation or "." in equation or len(terms) != len(work.inputs):
        raise Unknown
    sizes: dict[str, int] = {}
    for position, term in enumerate(terms):
        sizes |= zip(term, work.given(position), strict=True)
    return prod(sizes.values())


PRODUCTS: dict[str, Count] = {
    **dict.fromkeys(
        ("MatMul", "Gemm", "FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", "FusedGemm",
         "MatMulInteger", "MatMulInteger16", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QLinearMatMul",
         "GemmFastGelu", "QGemm", "MatMulFpQ4"),
        _matmul,
    ),
    "MatMulNBits": _blockwise,
    "MatMulBnb4": _blockwise,
    **dict.fromkeys(("Conv", "FusedConv", "ConvInteger", "NhwcFusedConv", "NhwcConv"), _conv(1)),
    "QLinearConv": _conv(3),
    "ConvTranspose": _conv_transpose,
    "Einsum": _einsum,
    "Attention": _attention_of_either,
    "QAttention": _attention_packed,
    "MultiHeadAttention": _multi_head,
    "GroupQueryAttention": _grouped_query,
    "LSTM": _recurrent(4),
    "DynamicQuantizeLSTM": _dynamic_lstm,
    "GRU": _recurrent(3),
    "RNN": _recurrent(1),
}  # fmt: skip
