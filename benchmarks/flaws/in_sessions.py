"""Flaws that show around a run: in ORT's log, in the load, in memory, and in the inputs."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from benchmarks.flaws.flaw import SOUND_TEXT, Flaw, Planted
from benchmarks.flaws.in_operators import VOCABULARY, shapes
from benchmarks.flaws.nets import TEXTS, images, products, texts
from benchmarks.models import Net
from workbench.core.config import Provider

HIDDEN = -10_000.0  # added to the scores of later positions


def no_cache(number: int) -> Planted:
    """An encoder with a causal mask and logits, and without past keys and values."""
    width, length, _ = TEXTS[number]

    def product(net: Net, queries: str, keys: str) -> str:
        scores = net.add("MatMul", queries, net.add("Transpose", keys, perm=[0, 2, 1]))
        every = net.constant("every", np.full((length, length), HIDDEN))
        later = net.plant("Trilu", every, net.constant("first_later", 1, np.int64), upper=1)
        return net.add("Add", scores, later)

    net = texts(number, product=product)
    net.plant("MatMul", net.nodes[-1].output[0], net.weight("head", width, VOCABULARY), name="logits")
    return Planted(net.model(), tuple(net.planted), SOUND_TEXT)


def growing_arena(number: int) -> Planted:
    net = (images, texts, products)[number](number)
    cuda = Provider("cuda", arena_extend_strategy="kSameAsRequested")
    return Planted(net.model(), config=SOUND_TEXT.replace(providers=(cuda, "cpu")))


def other_shapes(number: int) -> Planted:
    """The declared output has a last axis that is longer by one."""
    model = (images, texts, products)[number](number).model()
    model.graph.output[0].type.tensor_type.shape.dim[-1].dim_value += 1
    return Planted(model, config=SOUND_TEXT)


def half_constants(number: int) -> Planted:
    """A constant in float16 goes through an operator that the CPU has in float32 only."""
    operator = ("Sqrt", "Exp", "Log")[number]

    def after(net: Net, layer: int, result: str) -> str:
        if layer != 1:
            return result
        factor = net.add(operator, net.constant("half", [0.25], np.float16))
        scaled = net.add("Mul", net.add("Cast", result, to=TensorProto.FLOAT16), factor)
        return net.add("Cast", scaled, to=TensorProto.FLOAT)

    return Planted(images(number, after).model())


def larger_later(number: int) -> Planted:
    planted = shapes(number)
    width = planted.model.graph.input[0].type.tensor_type.shape.dim[-1].dim_value
    inputs = [{"x": np.ones((batch, 8, width), np.float32)} for batch in (1, 4, 16)]
    return Planted(planted.model, inputs=inputs)


def values_decide(number: int) -> Planted:
    """How many elements go on depends on their values."""
    net = products(number)
    flat = net.add("Reshape", net.nodes[-1].output[0], net.constant("flat", [-1], np.int64))
    if number == 0:
        chosen = net.add("Cast", net.plant("NonZero", flat), to=TensorProto.FLOAT)
    elif number == 1:
        chosen = net.plant("Unique", flat)
    else:
        chosen = net.plant("Compress", flat, net.add("Greater", flat, net.constant("least", 0.5)))
    net.add("ReduceMean", chosen, keepdims=0)
    return Planted(net.model(), tuple(net.planted))


def folded_at_each_load(number: int) -> Planted:
    """Every weight is computed from another one by nodes that ORT folds whenever it loads the file."""
    width, depth, steps = ((512, 3, 30), (640, 2, 40), (512, 4, 24))[number]
    net = Net([1, width], seed=number)
    last = "x"
    for layer in range(depth):
        weight = net.weight(f"w{layer}", width, width)
        for _ in range(steps):
            weight = net.add("Softmax", net.add("Tanh", weight), axis=-1)
        last = net.add("MatMul", last, weight)
    return Planted(net.model(), facts=("cold start",))


def one_large_node(number: int) -> Planted:
    """Between small nodes an outer product takes 20 MiB and more."""
    side = (2_400, 2_800, 3_200)[number]
    net = Net([1, side], seed=number)
    last = "x"
    for _ in range(6):
        last = net.add("Tanh", last)
    tall = net.add("Reshape", last, net.constant("tall", [side, 1], np.int64))
    outer = net.plant("MatMul", tall, last, name="outer")
    last = net.plant("ReduceMean", outer, net.constant("first", [0], np.int64), name="mean")
    for _ in range(6):
        last = net.add("Sigmoid", last)
    return Planted(net.model(), tuple(net.planted), facts=("memory",))


FLAWS = (
    Flaw("a decoder without a cache", "no-key-value-cache", no_cache),
    Flaw("an arena that grows as requested", "arena-grows-as-requested", growing_arena),
    Flaw("an output of another shape", "ort-met-other-shapes", other_shapes),
    Flaw("constants in float16", "ort-could-not-fold", half_constants),
    Flaw("larger inputs later", "larger-shapes-later", larger_later),
    Flaw("values that decide the time", "random-values-decide", values_decide),
    Flaw("constants folded at each load", "slow-load", folded_at_each_load),
    Flaw("one large node", "one-node-makes-the-peak", one_large_node),
)
