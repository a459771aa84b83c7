"""Operations per element of the operators that multiply no matrices.

Arithmetic, comparisons and elementary functions (exp, erf, …) count as one operation, as most counters do;
composed operators as the sum of their parts. They are a few percent of a model's operations; its bytes matter
more.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from workbench.features.profile.flops.cost import Unknown, Work


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
