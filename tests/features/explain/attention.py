"""The attention of a BERT as ORT 1.31's AttentionFusion knows it, with one thing changed at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

WIDTH, HEADS = 8, 2
SIZE = WIDTH // HEADS
Dims = tuple[int | str, ...]


@dataclass(frozen=True)
class Attention:
    """The defaults are what ORT fuses."""

    opset: int = 12
    dims: Dims = ("batch", "sequence", WIDTH)
    scale: str = "Div"  # "Mul", ""
    root: float = SIZE**0.5
    masked: bool = True
    mask_type: int = TensorProto.INT64
    axis: int = 3
    bias: str = "qkv"
    bias_first: bool = False
    computed_shape: bool = False
    norm_before: bool = False  # as in GPT-2 and ViT: the sum after the attention goes round the norm
    read_twice: bool = False
    weight_is_input: bool = False

    def model(self) -> ModelProto:
        made = _Made()
        made.value("x", self.dims)
        self._norm(made)
        for letter in "qkv":
            self._heads(made, letter)
        made("MatMul", ["q_t", "k_t"], "product", "product")
        now = "product"
        if self.scale:
            factor = self.root if self.scale == "Div" else 1 / self.root
            now = made(self.scale, [now, made.constant("root", factor)], "scaled", "scale")
        if self.masked:
            now = made("Add", [now, self._mask(made)], "masked", "add_mask")
        made("Softmax", [now], "p", "softmax", axis=self.axis)
        made("MatMul", ["p", "v_t"], "o", "after")
        made("Transpose", ["o"], "o_t", "o_t", perm=[0, 2, 1, 3])
        made("Reshape", ["o_t", made.constant("o_shape", [0, 0, WIDTH], np.int64)], "o_r", "o_r")
        made("MatMul", ["o_r", made.constant("o_w", np.eye(WIDTH))], "o_m", "o_m")
        bias = made.constant("o_b", np.ones(WIDTH))
        made("Add", [bias, "o_m"] if self.bias_first else ["o_m", bias], "o_a", "o_a")
        made("Add", ["o_a", "x" if self.norm_before else "norm"], "y", "sum")
        if self.read_twice:
            made("Relu", ["norm"], "z", "again")
        weights = [
            numpy_helper.from_array(value, name)
            for name, value in made.constants.items()
            if name not in made.declared
        ]
        outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", "s", WIDTH])
            for name in ("y", *(("z",) if self.read_twice else ()))
        ]
        graph = helper.make_graph(made.nodes, "attention", list(made.declared.values()), outputs, weights)
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", self.opset)])

    def _norm(self, made: _Made) -> None:
        scale, bias = made.constant("scale", np.ones(WIDTH)), made.constant("bias", np.zeros(WIDTH))
        if self.opset >= 17:
            made("LayerNormalization", ["x", scale, bias], "norm", "norm", axis=-1)
            return
        made("ReduceMean", ["x"], "mean", "mean", axes=[-1])
        made("Sub", ["x", "mean"], "centred", "centre")
        made("Pow", ["centred", made.constant("two", 2)], "squared", "square")
        made("ReduceMean", ["squared"], "variance", "variance", axes=[-1])
        made("Add", ["variance", made.constant("epsilon", 1e-5)], "safe", "safe")
        made("Sqrt", ["safe"], "deviation", "deviation")
        made("Div", ["centred", "deviation"], "normed", "normed")
        made("Mul", ["normed", scale], "norm_scaled", "norm_scaled")
        made("Add", ["norm_scaled", bias], "norm", "norm")

    def _heads(self, made: _Made, letter: str) -> None:
        weight = made.constant(f"{letter}_w", np.eye(WIDTH))
        if self.weight_is_input and letter == "q":
            made.value(weight, (WIDTH, WIDTH))
        now = made("MatMul", ["norm", weight], f"{letter}_m", f"{letter}_matmul")
        if letter in self.bias:
            bias = made.constant(f"{letter}_b", np.ones(WIDTH))
            now = made("Add", [bias, now] if self.bias_first else [now, bias], f"{letter}_a", f"{letter}_add")
        shape = made.constant("shape", [0, 0, HEADS, SIZE], np.int64)
        if self.computed_shape:
            shape = self._shape(made, letter)
        made("Reshape", [now, shape], f"{letter}_r", f"{letter}_split")
        perm = [0, 2, 3, 1] if letter == "k" else [0, 2, 1, 3]
        made("Transpose", [f"{letter}_r"], f"{letter}_t", f"{letter}_turn", perm=perm)

    def _shape(self, made: _Made, letter: str) -> str:
        """As exporters write it out: the first two dims of what comes in, then heads and size."""
        made("Shape", ["norm"], f"{letter}_s", f"{letter}_shape")
        for number in (0, 1):
            at = made.constant(f"at{number}", number, np.int64)
            made("Gather", [f"{letter}_s", at], f"{letter}_g{number}", f"{letter}_g{number}", axis=0)
            made.unsqueeze(f"{letter}_g{number}", f"{letter}_u{number}", 0, self.opset)
        parts = [f"{letter}_u0", f"{letter}_u1"]
        parts += [made.constant("heads", [HEADS], np.int64), made.constant("size", [SIZE], np.int64)]
        return made("Concat", parts, f"{letter}_c", f"{letter}_concat", axis=0)

    def _mask(self, made: _Made) -> str:
        made.value("mask", self.dims[:2], self.mask_type)
        made.unsqueeze("mask", "mask_1", 1, self.opset)
        made.unsqueeze("mask_1", "mask_2", 2, self.opset)
        made("Cast", ["mask_2"], "mask_f", "cast_mask", to=TensorProto.FLOAT)
        made("Sub", [made.constant("one", 1), "mask_f"], "mask_not", "turn_mask")
        return made("Mul", ["mask_not", made.constant("low", -10000)], "mask_low", "lower_mask")


class _Made:
    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}
        self.declared: dict[str, object] = {}

    def __call__(self, op_type: str, inputs: list[str], output: str, name: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op_type, inputs, [output], name, **attributes))
        return output

    def constant(self, name: str, value: object, kind: Callable = np.float32) -> str:
        self.constants[name] = np.asarray(value, kind)
        return name

    def value(self, name: str, dims: Dims, kind: int = TensorProto.FLOAT) -> None:
        self.declared[name] = helper.make_tensor_value_info(name, kind, dims)

    def unsqueeze(self, before: str, after: str, axis: int, opset: int) -> None:
        """Its axes are an attribute up to operator set 12."""
        if opset <= 12:
            self("Unsqueeze", [before], after, after, axes=[axis])
        else:
            self("Unsqueeze", [before, self.constant(f"axis{axis}", [axis], np.int64)], after, after)
