"""Flaws of the arithmetic: int8 and float16 that lose accuracy, integers without their fast kernels."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from benchmarks.flaws.flaw import RANDOM, SOUND_TEXT, Flaw, Planted
from benchmarks.flaws.in_configs import badly_set
from benchmarks.flaws.nets import Array, images, products, texts
from benchmarks.models import Net
from workbench.core.config import Config, DynamicInt8, Precision, StaticInt8, WeightOnly

SPIKE = 1_000.0  # among values of about 1
EXAMPLES = 200  # with labels
FEW = (20, 40, 60)  # calibration examples
STATIC = Config(precision=StaticInt8(samples=4))
ROWS_OF_WEIGHTS = 1_024
LARGE = ((4_096, 4), (2_048, 16), (4_096, 5))  # the side of each weight, and how many: 256 MiB or more


def wide_channel(number: int) -> Planted:
    """One column of a weight is a hundred times as large as the others, which share its scale."""
    net = products(number)
    model = net.model()
    tensor = model.graph.initializer[number]
    weight = numpy_helper.to_array(tensor).copy()
    weight[:, 3] *= 100
    tensor.raw_data = weight.tobytes()
    return Planted(model, (f"product{number}",), Config(precision=DynamicInt8()))


def spike(number: int) -> Planted:
    """One element of an activation is a thousand times as large as the others; the node that adds it."""
    net = _spiked(number)
    return Planted(net.model(), tuple(net.planted), STATIC, calibration=RANDOM)


def sensitive(number: int) -> Planted:
    """The same; the convolution that reads the activation."""
    return Planted(_spiked(number).model(), (f"conv{number + 1}",), STATIC, calibration=RANDOM)


def _spiked(number: int) -> Net:
    def after(net: Net, layer: int, result: str) -> str:
        if layer != number:
            return result
        side, width = int(net.shape[-1]), int(net.weights[0].dims[0])
        outlier = np.zeros((1, width, side, side))
        outlier[0, 1, 2, 3] = SPIKE
        return net.plant("Add", result, net.constant("spike", outlier))

    return images(number, after)


def few_examples(number: int) -> Planted:
    net = images(number)
    pictures = net.random.standard_normal((FEW[number], *net.shape[1:])).astype(np.float32)
    return Planted(net.model(), config=Config(precision=StaticInt8()), calibration={"x": pictures})


def accuracy_lost(number: int) -> Planted:
    """The float model is always right; in int8 the large weights of a dead feature leave others none."""
    net, weight = _dead_feature(number)
    features = net.random.standard_normal((EXAMPLES, net.shape[1])).astype(np.float32)
    labels = (features[:, 1:] @ weight[1:]).argmax(axis=1)
    data = {"x": features, "labels": labels}
    return Planted(net.model(), config=_int8(number), calibration=RANDOM, data=data)


def far_outputs(number: int) -> Planted:
    net, _ = _dead_feature(number)
    return Planted(net.model(), config=_int8(number), calibration=RANDOM, facts=("comparison",))


def joined_scales(number: int) -> Planted:
    """Boxes of 0 to 640 and scores of 0 to 1 become one tensor, which has one scale."""
    side, classes, most = ((16, 5, 640.0), (20, 20, 1280.0), (24, 2, 960.0))[number]
    net = Net([1, 3, side, side], seed=number)
    shared = net.add("Relu", net.add("Conv", "x", net.weight("stem", 16, 3, 3, 3), pads=[1, 1, 1, 1]))
    boxes = net.add("Sigmoid", net.add("Conv", shared, net.weight("box", 4, 16, 1, 1)))
    scores = net.add("Sigmoid", net.add("Conv", shared, net.weight("class", classes, 16, 1, 1)))
    net.plant("Concat", net.add("Mul", boxes, net.constant("most", most)), scores, axis=1)
    return Planted(net.model(), tuple(net.planted), STATIC, calibration=RANDOM, facts=("comparison",))


def _dead_feature(number: int) -> tuple[Net, Array]:
    features, classes = ((64, 10), (128, 12), (256, 10))[number]
    net = Net([1, features], seed=number)
    weight = net.random.standard_normal((features, classes)).astype(np.float32)
    weight[0] = SPIKE
    mask = np.ones(features)
    mask[0] = 0
    net.add("MatMul", net.add("Mul", "x", net.constant("mask", mask)), net.constant("w", weight), name="head")
    return net, weight


def _int8(number: int) -> Config:
    choices: tuple[Precision, ...] = (DynamicInt8(), StaticInt8(samples=16), DynamicInt8(per_channel=True))
    return Config(precision=choices[number])


def hidden_bias(number: int) -> Planted:
    """A file that was quantized before its Identity nodes were removed."""
    width, side, depth = ((16, 24, 3), (32, 16, 4), (24, 20, 3))[number]
    net = Net([1, width, side, side], seed=number)
    scale, zero = net.constant("scale", 0.05), net.constant("zero", 128, np.uint8)
    last = "x"
    for layer in range(depth):
        quantized = net.add("QuantizeLinear", last, scale, zero)
        integers = net.random.integers(-127, 128, (width, width, 3, 3))
        weight = net.add("DequantizeLinear", net.constant(f"w{layer}", integers, np.int8), scale)
        bias = net.add("Identity", net.constant(f"b{layer}", net.random.standard_normal(width)))
        source = net.add("DequantizeLinear", quantized, scale, zero)
        made = net.plant("Conv", source, weight, bias, name=f"conv{layer}", pads=[1, 1, 1, 1])
        last = net.add("Relu", made)
    return Planted(net.model(), tuple(net.planted))


def few_integers(number: int) -> Planted:
    """The products of activations outweigh the one with a weight, and only that one becomes an integer."""
    length, width, depth = ((256, 64, 3), (320, 48, 2), (384, 64, 2))[number]
    net = Net([1, length, width], seed=number)
    last = "x"
    for layer in range(depth):
        made = net.add("MatMul", last, net.weight(f"w{layer}", width, width), name=f"product{layer}")
        keys = net.add("Transpose", made, perm=[0, 2, 1])
        shares = net.add("Softmax", net.plant("MatMul", made, keys, name=f"scores{layer}"), axis=-1)
        last = net.plant("MatMul", shares, made, name=f"mixed{layer}")
    return Planted(net.model(), tuple(net.planted), Config(precision=DynamicInt8()))


def weights_of_a_few_rows(number: int) -> Planted:
    """Each run reads 256 MiB of weights for one row."""
    side, depth = LARGE[number]
    net = Net([1, side], seed=number)
    block = net.random.standard_normal((ROWS_OF_WEIGHTS, side)).astype(np.float32) / np.float32(side**0.5)
    weight = np.tile(block, (side // ROWS_OF_WEIGHTS, 1))
    last = "x"
    for layer in range(depth):
        weight[0, 0] = layer + 1  # no two are equal
        last = net.plant("MatMul", last, net.constant(f"w{layer}", weight), name=f"product{layer}")
        last = net.add("Tanh", last)
    return Planted(net.model(), tuple(net.planted))


SEVEN_BITS = tuple(
    SOUND_TEXT.replace(precision=int8(reduce_range=True)) for int8 in (DynamicInt8, StaticInt8, DynamicInt8)
)
SIXTEEN_BITS = tuple(
    Config(precision=StaticInt8(samples=4, activation=kind)) for kind in ("uint16", "int16", "uint16")
)
IN_FLOAT = tuple(Config(precision=WeightOnly(bits=bits, accuracy_level="float32")) for bits in (4, 8, 4))
FLAWS = (
    Flaw("one scale for a wide channel", "one-scale-for-wide-channels", wide_channel),
    Flaw("seven bits on VNNI", "seven-bits-for-nothing",
         badly_set((products, images, texts), *SEVEN_BITS, calibration=RANDOM)),
    Flaw("an outlier in an activation", "outliers-set-the-range", spike),
    Flaw("a layer that reads an outlier", "sensitive-layer", sensitive),
    Flaw("calibration on random data", "random-calibration",
         badly_set((images,), STATIC, calibration=RANDOM)),
    Flaw("calibration on few examples", "few-calibration-examples", few_examples),
    Flaw("labels that int8 misses", "accuracy-lost", accuracy_lost),
    Flaw("outputs that int8 loses", "outputs-far-from-float", far_outputs),
    Flaw("scores beside boxes", "channels-lost-in-a-common-scale", joined_scales),
    Flaw("biases behind Identity", "bias-behind-identity", hidden_bias),
    Flaw("int8 of a few products", "few-integer-kernels", few_integers),
    Flaw("activations of 16 bits", "sixteen-bit-activations",
         badly_set((images,), *SIXTEEN_BITS, calibration=RANDOM)),
    Flaw("blocks that compute in float", "blocks-computed-in-float", badly_set((products,), *IN_FLOAT)),
    Flaw("256 MiB of weights for a row", "weight-only-opportunity", weights_of_a_few_rows),
)  # fmt: skip
