"""Flaws in the operators of a model: each costs time that an equivalent form does not."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from benchmarks.flaws.flaw import SOUND_TEXT, Flaw, Planted, planted
from benchmarks.flaws.nets import flat_signals, images, signals, texts
from benchmarks.models import Net

EXPONENTS = (0.5, -0.5, 4.0)
ODD_CHANNELS = (30, 45, 34)
LARGE_KERNELS = (9, 11, 9)
VOCABULARY = 12_000


def power(number: int) -> Planted:
    exponent = EXPONENTS[number]

    def after(net: Net, layer: int, result: str) -> str:
        positive = net.add("Sigmoid", result)
        return net.plant("Pow", positive, net.constant("exponent", exponent), name=f"power{layer}")

    def spelled_out(net: Net, _: int, result: str) -> str:
        positive = net.add("Sigmoid", result)
        if exponent == 4:
            square = net.add("Mul", positive, positive)
            return net.add("Mul", square, square)
        root = net.add("Sqrt", positive)
        return root if exponent > 0 else net.add("Reciprocal", root)

    return planted(images(number, after), sound=images(number, spelled_out))


def einsum(number: int) -> Planted:
    def product(net: Net, queries: str, keys: str) -> str:
        return net.plant("Einsum", queries, keys, equation="bid,bjd->bij")

    net = texts(number, product=product)
    return planted(net, config=SOUND_TEXT, sound=texts(number))


def casts(number: int) -> Planted:
    def after(net: Net, _: int, result: str) -> str:
        half = net.plant("Cast", result, to=TensorProto.FLOAT16)
        return net.plant("Cast", half, to=TensorProto.FLOAT)

    return planted(images(number, after), sound=images(number))


def doubles(number: int) -> Planted:
    def after(net: Net, _: int, result: str) -> str:
        wide = net.add("Cast", result, to=TensorProto.DOUBLE)
        for operator in ("Tanh", "Exp", "Sigmoid"):
            wide = net.plant(operator, wide)
        return net.add("Cast", wide, to=TensorProto.FLOAT)

    return planted(images(number, after))


def transposes(number: int) -> Planted:
    def after(net: Net, _: int, result: str) -> str:
        return net.plant("Transpose", result, perm=[0, 1, 3, 2])

    return planted(images(number, after, kernel=1))


def loop(number: int) -> Planted:
    """A Loop multiplies one row after the other by the same matrix."""
    steps, width = ((64, 64), (128, 96), (96, 128))[number]
    net = Net([steps, width], seed=number)
    weight = net.weight("w", width, width)
    body = helper.make_graph(
        [
            helper.make_node("Gather", ["x", "step"], ["row"], "row", axis=0),
            helper.make_node("Unsqueeze", ["row", "first"], ["wide"], "wide"),
            helper.make_node("MatMul", ["wide", weight], ["made"], "made"),
            helper.make_node("Squeeze", ["made", "first"], ["result"], "result"),
            helper.make_node("Identity", ["go_on"], ["more"], "more"),
        ],
        "body",
        [
            helper.make_tensor_value_info("step", TensorProto.INT64, []),
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
        ],
        [
            helper.make_tensor_value_info("more", TensorProto.BOOL, []),
            helper.make_tensor_value_info("result", TensorProto.FLOAT, [width]),
        ],
    )
    net.constant("first", [0], np.int64)
    count, always = net.constant("count", steps, np.int64), net.constant("always", True, np.bool_)
    net.plant("Loop", count, always, name="loop", body=body)
    net.planted += [f"loop/body::{node.name}" for node in body.node]
    net.add("Relu", "loop")
    sound = Net([steps, width], seed=number)
    sound.add("Relu", sound.add("MatMul", "x", sound.weight("w", width, width)))
    return planted(net, sound=sound)


def odd_channels(number: int) -> Planted:
    net = images(number, channels=ODD_CHANNELS[number])
    net.planted = net.names_of("Conv")[1:]
    return planted(net)


def narrow_convolutions(number: int) -> Planted:
    return planted(signals(number), sound=flat_signals(number))


def large_kernels(number: int) -> Planted:
    net = images(number, channels=16, kernel=LARGE_KERNELS[number], layers=2)
    net.planted = net.names_of("Conv")
    return planted(net)


def with_pads(number: int) -> Net:
    """Return convolutions without pads of their own, and a reflecting Pad before all but the first."""

    def after(net: Net, layer: int, result: str) -> str:
        if layer == 2:
            return result
        pads = net.constant("pads", [0, 0, 1, 1, 0, 0, 1, 1], np.int64)
        return net.plant("Pad", result, pads, mode="reflect")

    return images(number, after, padded=False, layers=3)


def reflecting_pads(number: int) -> Planted:
    return planted(with_pads(number))


def batch_norm(number: int) -> Planted:
    """After a convolution with a second reader, or before a convolution without pads."""

    def add(net: Net, result: str) -> str:
        width = int(net.weights[0].dims[0])
        one, none = net.constant("one", np.full(width, 1.1)), net.constant("none", np.zeros(width))
        return net.plant("BatchNormalization", result, one, none, none, one)

    def seen(net: Net, _: int, result: str) -> str:
        return net.add("Add", add(net, result), result)

    def after(net: Net, layer: int, result: str) -> str:
        return result if layer == 3 else add(net, result)

    return planted(images(number, seen=seen) if number == 0 else images(number, after, kernel=1, layers=4))


def hidden_outputs(number: int) -> Planted:
    net = images(number)
    results = net.names_of("Conv")
    net.planted = net.names_of("Conv", "Relu")
    return planted(net, net.nodes[-1].output[0], *results)


def half_first_gelu(number: int) -> Planted:
    def activation(net: Net, _: int, result: str) -> str:
        root = net.constant("root", np.sqrt(2))
        error = net.plant("Erf", net.plant("Div", result, root))
        half = net.plant("Mul", net.plant("Add", error, net.constant("unit", 1)), net.constant("half", 0.5))
        return net.plant("Mul", result, half)

    return planted(texts(number, activation=activation), config=SOUND_TEXT, sound=texts(number))


def tanh_gelu(number: int) -> Planted:
    """The form of GPT-2 with the cube as a Pow, as eager PyTorch exports it, but with the half first."""

    def activation(net: Net, _: int, result: str) -> str:
        cube = net.plant("Pow", result, net.constant("three", 3))
        inner = net.plant("Add", net.plant("Mul", cube, net.constant("cubic", 0.044715)), result)
        bent = net.plant("Tanh", net.plant("Mul", inner, net.constant("pi", np.sqrt(2 / np.pi))))
        half = net.plant("Mul", net.plant("Add", bent, net.constant("unit", 1)), net.constant("half", 0.5))
        return net.plant("Mul", half, result)

    def fused(net: Net, _: int, result: str) -> str:
        return net.add("Gelu", result, approximate="tanh")

    sound = texts(number, activation=fused)
    return planted(texts(number, activation=activation), config=SOUND_TEXT, sound=sound)


def spelled_layer_norm(number: int) -> Planted:
    def norm(net: Net, _: int, result: str) -> str:
        mean = net.plant("ReduceMean", result, net.constant("last", [-1], np.int64))
        centred = net.plant("Sub", result, mean)
        square = net.plant("Pow", centred, net.constant("two", 2))
        spread = net.plant("ReduceMean", square, net.constant("last", [-1], np.int64))
        root = net.plant("Sqrt", net.plant("Add", spread, net.constant("least", 1e-5)))
        return net.plant("Div", centred, root)

    return planted(texts(number, norm=norm), config=SOUND_TEXT)


def logits(number: int) -> Planted:
    net = texts(number)
    width = int(net.weights[0].dims[0])
    net.plant("MatMul", net.nodes[-1].output[0], net.weight("head", width, VOCABULARY), name="logits")
    return planted(net, config=SOUND_TEXT)


def shapes(number: int) -> Planted:
    """Every layer joins batch and length and splits them again, with shapes that it computes."""
    width = (16, 24, 32)[number]
    net = Net(["batch", "length", width], seed=number)
    last = "x"
    front, whole = net.constant("front", [0], np.int64), net.constant("width", [width], np.int64)
    for layer in range(6):
        shape = net.plant("Shape", last)
        sizes = [
            net.plant("Gather", shape, net.constant(f"place{place}", place, np.int64)) for place in (0, 1)
        ]
        rows = net.plant("Unsqueeze", net.add("Mul", *sizes), front)
        flat = net.add("Reshape", last, net.plant("Concat", rows, whole, axis=0))
        made = net.add("MatMul", net.add("Tanh", flat), net.weight(f"w{layer}", width, width))
        ends = [net.plant("Unsqueeze", size, front) for size in sizes]
        last = net.add("Reshape", made, net.plant("Concat", *ends, whole, axis=0))
    return planted(net)


def tiny_nodes(number: int) -> Planted:
    width, depth = ((8, 60), (16, 80), (32, 100))[number]
    net = Net([1, width], seed=number)
    last = "x"
    for _ in range(depth):
        last = net.add("Tanh", net.add("Softmax", last, axis=-1))
    return planted(net)


def slow_fusion(number: int) -> Planted:
    net = texts(number)
    sums = {name for node in net.nodes if node.op_type == "LayerNormalization" for name in node.input[:1]}
    norms = net.names_of("LayerNormalization")
    return Planted(net.model(), (*sums, *norms), sound=net.model(), sound_config=SOUND_TEXT)


FLAWS = (
    Flaw("a power of ½, -½ or 4", "general-power", power, is_timed=True),
    Flaw("Einsum for a product", "einsum", einsum, is_timed=True),
    Flaw("casts to float16 and back", "cast-pairs", casts),
    Flaw("a float64 island", "float64-island", doubles),
    Flaw("transposes between convolutions", "transposes", transposes),
    Flaw("a Loop for a product", "loop-of-products", loop, is_timed=True),
    Flaw("odd channels", "channels-miss-blocked-layout", odd_channels, is_timed=True),
    Flaw("one-dimensional convolutions", "one-dimensional-convolution", narrow_convolutions, is_timed=True),
    Flaw("large kernels in the blocked layout", "layout-costs-more", large_kernels),
    Flaw("reflecting pads", "reorder-sandwich", reflecting_pads, is_timed=True),
    Flaw("batch norm and a second reader", "conv-batch-norm-not-folded", batch_norm),
    Flaw("hidden outputs", "extra-output-blocks-fusion", hidden_outputs),
    Flaw("GELU with the half first", "gelu-not-fused", half_first_gelu, is_timed=True),
    Flaw("GELU of tanh", "gelu-not-fused", tanh_gelu, is_timed=True),
    Flaw("layer norm spelled out", "layer-norm-not-fused", spelled_layer_norm),
    Flaw("logits of every position", "logits-of-every-position", logits),
    Flaw("shapes computed in every run", "shape-arithmetic", shapes),
    Flaw("tiny nodes", "time-between-nodes", tiny_nodes),
    Flaw("SkipLayerNormalization on the CPU", "skip-layer-norm-slow", slow_fusion, is_timed=True),
)
