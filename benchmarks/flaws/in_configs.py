"""Flaws of the config: the model is sound, and the session is set up badly for it."""

from __future__ import annotations

import numpy as np

from benchmarks.flaws.flaw import SOUND_TEXT, Flaw, Planted
from benchmarks.flaws.nets import Net, images, products, texts
from workbench.core.config import Config, DynamicInt8, StaticInt8, WeightOnly

TOO_MANY = (8, 16, 6)  # threads
RANDOM = "random"


def low_level(number: int) -> Planted:
    return _badly_set(images(number), Config(level=("basic", "disabled", "extended")[number]), "Conv")


def dynamic_convolutions(number: int) -> Planted:
    return _badly_set(images(number), Config(precision=DynamicInt8()), "Conv")


def float_convolutions(number: int) -> Planted:
    return _badly_set(images(number), Config(), "Conv")


def float_products(number: int) -> Planted:
    return _badly_set(texts(number), SOUND_TEXT)


def static_transformer(number: int) -> Planted:
    config = SOUND_TEXT.replace(precision=StaticInt8(samples=2))
    return Planted(texts(number).model(), config=config, calibration=RANDOM)


def quantized_pads(number: int) -> Planted:
    def after(net: Net, layer: int, result: str) -> str:
        if layer == 2:
            return result
        pads = net.constant("pads", [0, 0, 1, 1, 0, 0, 1, 1], np.int64)
        return net.plant("Pad", result, pads, mode="reflect")

    net = images(number, after, padded=False, layers=3)
    config = Config(precision=StaticInt8(samples=2))
    return Planted(net.model(), tuple(net.planted), config, calibration=RANDOM)


def weight_only_rows(number: int) -> Planted:
    return _badly_set(products(number), Config(precision=WeightOnly(bits=(4, 8, 4)[number])))


def too_many_threads(number: int) -> Planted:
    return _badly_set(images(number), Config(intra_op_threads=TOO_MANY[number]))


def parallel_mode(number: int) -> Planted:
    net = (images, texts, products)[number](number)
    config = SOUND_TEXT.replace(execution_mode="parallel", inter_op_threads=2)
    return Planted(net.model(), config=config, sound_config=SOUND_TEXT)


def cpu_first(number: int) -> Planted:
    net = (images, texts, products)[number](number)
    return _badly_set(net, SOUND_TEXT.replace(providers=("cpu", "cuda")))


def missing_provider(number: int) -> Planted:
    net = (images, texts, products)[number](number)
    return _badly_set(net, SOUND_TEXT.replace(providers=("cuda", "cpu")))


def _badly_set(net: Net, config: Config, *op_types: str) -> Planted:
    nodes = tuple(node.name for node in net.nodes if node.op_type in op_types)
    return Planted(net.model(), nodes, config)


FLAWS = (
    Flaw("a level below all", "level-below-all", low_level, is_timed=True),
    Flaw("dynamic int8 of convolutions", "dynamic-int8-convolutions", dynamic_convolutions),
    Flaw("float32 convolutions", "static-int8-opportunity", float_convolutions),
    Flaw("float32 products", "dynamic-int8-opportunity", float_products),
    Flaw("static int8 of an encoder", "static-int8-transformer", static_transformer),
    Flaw("quantized pads", "quantized-cheap-operators", quantized_pads),
    Flaw("weight-only for many rows", "weight-only-many-rows", weight_only_rows),
    Flaw("more threads than cores", "too-many-threads", too_many_threads, is_timed=True),
    Flaw("parallel mode on a chain", "parallel-chain", parallel_mode, is_timed=True),
    Flaw("the CPU before another provider", "cpu-listed-first", cpu_first),
    Flaw("a provider that does not load", "provider-did-not-load", missing_provider),
)
