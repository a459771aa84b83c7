"""Flaws of the file: weights that are inputs, denormal, broken, stored twice, unread or attributes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from benchmarks.flaws.flaw import Flaw, Planted, planted
from benchmarks.flaws.nets import images, products

MANY_NUMBERS = 120_000


def weights_as_inputs(number: int) -> Planted:
    net = images(number)
    model = net.model()
    for tensor in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return Planted(model, tuple(net.names_of("Conv")), sound=net.model())


def denormals(number: int) -> Planted:
    return _changed_weight(number, slice(None, None, 2), 1e-39)


def not_a_number(number: int) -> Planted:
    return _changed_weight(number, (0, 0, 0, 0), (np.nan, np.inf, -np.inf)[number])


def unread(number: int) -> Planted:
    net = (images, products, products)[number](number)
    sound, model = net.model(), net.model()
    model.graph.initializer.append(numpy_helper.from_array(net.random.random((600, 600), np.float32), "old"))
    return Planted(model, sound=sound)


def attributes(number: int) -> Planted:
    net = images(number)
    values = [float(value) for value in net.random.random(MANY_NUMBERS)]
    table = net.plant("Constant", name="table", value_floats=values)
    net.add("Add", net.nodes[-2].output[0], net.add("ReduceMean", table, keepdims=0))
    return planted(net)


def _changed_weight(number: int, place: Any, value: float) -> Planted:
    model = images(number).model()
    tensor = model.graph.initializer[1]
    weight = numpy_helper.to_array(tensor).copy()
    weight[place] = value
    tensor.raw_data = weight.tobytes()
    return Planted(model, ("conv1",))


def twice(number: int, *, transposed: bool = False) -> Planted:
    net = products(number)
    model = net.model()
    first, second = model.graph.initializer[0], model.graph.initializer[2]
    weight = numpy_helper.to_array(first)
    second.raw_data = np.ascontiguousarray(weight.T if transposed else weight).tobytes()
    return Planted(model, ("product0", "product2"))


FLAWS = (
    Flaw("weights among the inputs", "weights-are-inputs", weights_as_inputs, is_timed=True),
    Flaw("denormal weights", "denormal-weights", denormals, is_timed=True),
    Flaw("a weight that is no number", "non-finite-weights", not_a_number),
    Flaw("the same weight twice", "weights-stored-twice", twice),
    Flaw("a weight and its transpose", "weights-stored-twice", partial(twice, transposed=True)),
    Flaw("a weight that nothing reads", "unused-weights", unread),
    Flaw("numbers in an attribute", "weights-as-attributes", attributes),
)
