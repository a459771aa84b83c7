"""One palette: a run, a provider or an op type looks the same in every figure, by colour and hatching."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal
from zlib import crc32

Pattern = Literal["", "/", "\\", "x", "-", "|", "+", "."]  # plotly's names of hatchings

# Okabe and Ito's colours. The strong ones have a contrast of 3 or more against white and against #111, so
# they may be lines, points and text; blue and vermillion are those of the runs A and B and of nothing else.
BLUE, VERMILLION, GREEN, PURPLE = STRONG = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
SKY, YELLOW = PALE = ("#56B4E9", "#F0E442")  # too faint on white without an outline
# Fills of operators and providers, after Paul Tol's light scheme without its blue and its orange.
MINT, PEAR, OLIVE, PINK, LILAC, SAND, CYAN = MUTED = (
    "#44BB99", "#BBCC33", "#AAAA00", "#FFAABB", "#B8A9D9", "#EEDD88", "#99DDFF",
)  # fmt: skip
TEXT = "#7a7a7a"  # 4.3 on white, 4.4 on #111: as near to equal as one grey can be
GRID = "rgba(128, 128, 128, 0.22)"

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
PATTERNS: tuple[Pattern, ...] = ("", "/", "\\", "x", "-", "|", "+", ".")

GAIN, LOSS = GREEN, PURPLE
SOURCE = "#b0b0b0"  # the graph before ORT's passes; SLATE is that after them
# Series that are no runs, gains or losses; each has a contrast of 3 or more against white and against #111.
SLATE, OCHRE, VIOLET, TAN = ("#5b6975", "#a07b2c", "#7d6bb0", "#b08068")
SERIES: tuple[tuple[str, Pattern, str], ...] = (  # colour, hatching, symbol
    (SLATE, "", "circle"),
    (OCHRE, "/", "diamond"),
    (VIOLET, "x", "square"),
    (TAN, "-", "triangle-up"),
    (TEXT, "\\", "cross"),
    (SLATE, "+", "circle"),
    (OCHRE, ".", "diamond"),
)


@dataclass(frozen=True, slots=True)
class FillStyle:
    """How an area is filled; an outline makes pale colours visible on white, `ink` is readable on it."""

    color: str
    pattern: Pattern

    @property
    def ink(self) -> str:
        return "#ffffff" if self.color == BLUE else "#000000"


def style_of_provider(name: str) -> FillStyle:
    """Return the style of a provider, given its full or its short name."""
    key = name.removesuffix("ExecutionProvider").casefold()
    key = _OTHER_NAMES.get(key, key)
    return PROVIDER_STYLES.get(key) or _any_style(key)


def style_of_op_type(op_type: str) -> FillStyle:
    """Return the style of an op type: the colour is its kind of work, the hatching its place in the kind."""
    return OP_TYPE_STYLES.get(op_type) or _any_style(op_type)


def _any_style(name: str) -> FillStyle:
    """Derive the style from the name, the same in every process; plain fills are for known names."""
    choices = list(product(MUTED, PATTERNS[1:]))
    return FillStyle(*choices[crc32(name.encode("utf-8", "surrogatepass")) % len(choices)])


PROVIDER_STYLES = {
    "cpu": FillStyle(CYAN, ""),
    "cuda": FillStyle(MINT, ""),
    "tensorrt": FillStyle(PEAR, ""),
    "nvtensorrtrtx": FillStyle(PEAR, "/"),
    "openvino": FillStyle(LILAC, ""),
    "dnnl": FillStyle(LILAC, "/"),
    "dml": FillStyle(PINK, ""),
    "webgpu": FillStyle(PINK, "/"),
    "coreml": FillStyle(SAND, ""),
    "nnapi": FillStyle(SAND, "/"),
    "qnn": FillStyle(OLIVE, ""),
    "migraphx": FillStyle(OLIVE, "/"),
    "xnnpack": FillStyle(CYAN, "/"),
    "cann": FillStyle(MINT, "/"),
    "acl": FillStyle(MINT, "x"),
}
_OTHER_NAMES = {"trt": "tensorrt", "tensorrt-rtx": "nvtensorrtrtx", "directml": "dml"}

# At most eight of a kind, one a hatching; the most usual first.
OP_TYPES_BY_COLOR = {
    CYAN: "MatMul Gemm FusedMatMul FusedGemm Einsum TransposeMatMul",
    OLIVE: "Conv FusedConv ConvTranspose NhwcFusedConv MaxPool AveragePool GlobalAveragePool",
    LILAC: "Attention MultiHeadAttention GroupQueryAttention Softmax RotaryEmbedding QAttention LSTM GRU",
    MINT: "LayerNormalization SkipLayerNormalization BatchNormalization InstanceNormalization "
    "SimplifiedLayerNormalization EmbedLayerNormalization RMSNormalization GroupNormalization",
    PEAR: "Add Mul Relu Gelu BiasGelu FastGelu Sigmoid QuickGelu",
    SAND: "Transpose Reshape Gather Concat Slice ReorderInput MemcpyToHost Split",
    PINK: "QuantizeLinear DequantizeLinear MatMulInteger DynamicQuantizeMatMul QLinearConv MatMulNBits "
    "DynamicQuantizeLinear QLinearMatMul",
}
OP_TYPE_STYLES = {
    op_type: FillStyle(color, pattern)
    for color, kin in OP_TYPES_BY_COLOR.items()
    for op_type, pattern in zip(kin.split(), PATTERNS, strict=False)
}
