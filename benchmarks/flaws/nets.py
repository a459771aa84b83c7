"""Small sound models with generated weights; a hook after each layer plants a flaw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.models import Net

Array = np.ndarray[Any, Any]


Hook = Callable[[Net, int, str], str]  # the net, the number of the layer, its result → what follows reads


def unchanged(_: Net, __: int, result: str) -> str:
    """Plant nothing."""
    return result


IMAGES = ((32, 40, 4), (64, 24, 4), (48, 32, 5))  # channels, side, layers
SIGNALS = ((64, 512, 4), (32, 1024, 4), (48, 768, 5))  # channels, length, layers
TEXTS = ((128, 64, 2), (256, 48, 2), (192, 64, 3))  # width, length, layers
PRODUCTS = ((32, 512, 4), (64, 512, 3), (48, 768, 3))  # rows, width, layers


def images(
    number: int,
    after: Hook = unchanged,
    *,
    channels: int | None = None,
    kernel: int = 3,
    padded: bool = True,
    layers: int | None = None,
    seen: Hook = unchanged,
) -> Net:
    """Return a convolutional net: Conv and Relu, in the second one with a sum around every other layer.

    `seen` gets the result of each convolution, `after` that of its activation.
    """
    usual, side, depth = IMAGES[number]
    width = channels or usual
    net = Net([1, 3, side, side], seed=number)
    last, before = "x", 3
    for layer in range(layers or depth):
        weight = net.weight(f"w{layer}", width, before, kernel, kernel)
        pads = [kernel // 2 if padded else 0] * 4
        made = net.add("Conv", last, weight, name=f"conv{layer}", pads=pads)
        result = net.add("Relu", seen(net, layer, made), name=f"relu{layer}")
        if number == 1 and layer % 2 and padded and kernel == 3:
            result = net.add("Add", result, last, name=f"sum{layer}")
        last, before = after(net, layer, result), width
    if number == 2:
        last = net.add("GlobalAveragePool", last, name="pool")
    return net


def signals(number: int) -> Net:
    """Return a net of one-dimensional convolutions."""
    width, length, depth = SIGNALS[number]
    net = Net([1, width, length], seed=number)
    last = "x"
    for layer in range(depth):
        weight = net.weight(f"w{layer}", width, width, 5)
        made = net.plant("Conv", last, weight, name=f"conv{layer}", pads=[2, 2])
        last = net.add("Relu", made, name=f"relu{layer}")
    return net


def flat_signals(number: int) -> Net:
    """Return the same net with two-dimensional convolutions of height 1."""
    width, length, depth = SIGNALS[number]
    net = Net([1, width, length], seed=number)
    height = net.constant("height", [2], np.int64)
    last = net.add("Unsqueeze", "x", height)
    for layer in range(depth):
        weight = net.weight(f"w{layer}", width, width, 1, 5)
        made = net.add("Conv", last, weight, pads=[0, 2, 0, 2])
        last = net.add("Relu", made, name=f"flat{layer}")
    net.add("Squeeze", last, height)
    return net


def layer_norm(net: Net, _: int, result: str) -> str:
    """Add a LayerNormalization."""
    width = TEXTS[net.seed][0]
    scale = net.constant("one", np.ones(width))
    return net.add("LayerNormalization", result, scale, net.constant("none", np.zeros(width)), axis=-1)


def gelu(net: Net, _: int, result: str) -> str:
    """Add a Gelu."""
    return net.add("Gelu", result)


def scores(net: Net, queries: str, keys: str) -> str:
    """Add the product of queries and keys."""
    return net.add("MatMul", queries, net.add("Transpose", keys, perm=[0, 2, 1]))


def texts(
    number: int,
    *,
    norm: Hook = layer_norm,
    activation: Hook = gelu,
    product: Callable[[Net, str, str], str] = scores,
) -> Net:
    """Return an encoder: attention with one head, a feed-forward part, and a normalization after each."""
    width, length, depth = TEXTS[number]
    net = Net([1, length, width], seed=number)
    last = "x"
    for layer in range(depth):
        queries, keys, values = (
            net.add("MatMul", last, net.weight(f"{part}w{layer}", width, width), name=f"{part}{layer}")
            for part in "qkv"
        )
        shares = net.add("Softmax", product(net, queries, keys), axis=-1)
        mixed = net.add("MatMul", net.add("MatMul", shares, values), net.weight(f"ow{layer}", width, width))
        last = norm(net, layer, net.add("Add", mixed, last))
        inner = net.add("MatMul", last, net.weight(f"uw{layer}", width, 4 * width))
        outer = net.add("MatMul", activation(net, layer, inner), net.weight(f"dw{layer}", 4 * width, width))
        last = norm(net, layer, net.add("Add", outer, last))
    return net


def products(number: int) -> Net:
    """Return a chain of MatMul and Relu."""
    rows, width, depth = PRODUCTS[number]
    net = Net([rows, width], seed=number)
    last = "x"
    for layer in range(depth):
        made = net.add("MatMul", last, net.weight(f"w{layer}", width, width), name=f"product{layer}")
        last = net.add("Relu", made, name=f"relu{layer}")
    return net
