"""One-dimensional convolutions written as two-dimensional ones of height 1."""

from collections import Counter
from collections.abc import Iterable

import onnx
from onnx import numpy_helper

from workbench.core.rewrites.edits import Additions, remove_named, remove_stale_types
from workbench.core.rewrites.graphs import with_bodies
from workbench.core.rewrites.scopes import (
    CONSTANTS_IR_VERSION,
    Scope,
    captured_names,
    is_standard,
    opset_of,
    reads_of,
    scopes_of,
)

HEIGHT_AXIS = 2
AXES_INPUT_OPSET = 13  # since then, Squeeze and Unsqueeze take their axes as an input
WIDENED_ATTRIBUTES = {"kernel_shape": 1, "strides": 1, "dilations": 1, "pads": 2}  # and their lengths
ELEMENTWISE = (
    *("Abs", "BatchNormalization", "Clip", "Elu", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish"),
    *("LeakyRelu", "Mish", "Neg", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh"),
)


def widen_convolutions(model: onnx.ModelProto) -> int:
    """Put each Conv with constant weights of rank 3 between Unsqueeze and Squeeze; return how many.

    Between two such convolutions with elementwise operators alone, the pair of both is left out.
    """
    new = Additions(model)
    chosen = [
        (scope, node) for scope in scopes_of(model) for node in scope.graph.node if _is_narrow(node, scope)
    ]
    if not chosen:
        return 0
    model.ir_version = max(model.ir_version, CONSTANTS_IR_VERSION)
    axes = []
    if opset_of(model) >= AXES_INPUT_OPSET:
        axes = [new.name("height_axis")]
        model.graph.initializer.append(onnx.helper.make_tensor(axes[0], onnx.TensorProto.INT64, [1], [2]))
    _widen_weights(model, chosen, new)
    for scope, node in chosen:
        _widen(scope.graph, node, axes, new)
    captured = captured_names(model)
    for scope in {id(scope.graph): scope for scope, _ in chosen}.values():
        now = Scope(scope.graph, scope.constants, scope.types, captured)
        _Pairs(now, axes, new).merge()
    return len(chosen)


def _is_narrow(node: onnx.NodeProto, scope: Scope) -> bool:
    if not is_standard(node, "Conv") or len(node.input) < 2:
        return False
    weight = scope.constants.get(node.input[1])
    lengths = {attribute.name: len(attribute.ints) for attribute in node.attribute}
    sound = all(lengths.get(name, length) == length for name, length in WIDENED_ATTRIBUTES.items())
    return weight is not None and len(weight.dims) == 3 and sound


def _widen_weights(
    model: onnx.ModelProto, chosen: list[tuple[Scope, onnx.NodeProto]], new: Additions
) -> None:
    """Give each weight a height of 1: in its place where only these convolutions read it, else in a copy."""
    reads = reads_of(model)
    converted = Counter(node.input[1] for _, node in chosen)
    copies: dict[int, str] = {}
    widened: set[int] = set()
    for scope, node in chosen:
        name = node.input[1]
        weight = scope.constants[name]
        if reads[name] == converted[name]:
            if id(weight) not in widened:
                weight.dims.insert(HEIGHT_AXIS, 1)
                widened.add(id(weight))
            continue
        if id(weight) not in copies:
            array = numpy_helper.to_array(weight)
            copies[id(weight)] = new.constant(f"{name}_2d", array.reshape(*array.shape[:2], 1, -1))
        node.input[1] = copies[id(weight)]
    for graph in with_bodies(model.graph):
        remove_named(graph.value_info, set(converted))  # a declared type has the rank


def _widen(graph: onnx.GraphProto, node: onnx.NodeProto, axes: list[str], new: Additions) -> None:
    """Put Unsqueeze before a convolution and Squeeze after it."""
    for attribute in node.attribute:
        if attribute.name == "pads":
            begin, end = attribute.ints
            del attribute.ints[:]
            attribute.ints.extend([0, begin, 0, end])
        elif attribute.name in WIDENED_ATTRIBUTES:
            attribute.ints.insert(0, 1)
    place = _place(graph.node, node)
    source, result = node.input[0], node.output[0]
    node.input[0], node.output[0] = new.name(f"{result}_in_2d"), new.name(f"{result}_2d")
    graph.node.insert(place + 1, _axis_node("Squeeze", node.output[0], result, axes, node, new))
    graph.node.insert(place, _axis_node("Unsqueeze", source, node.input[0], axes, node, new))


def _axis_node(
    operator: str, source: str, target: str, axes: list[str], beside: onnx.NodeProto, new: Additions
) -> onnx.NodeProto:
    name = new.node_name(beside, operator.lower())
    node = onnx.helper.make_node(operator, [source, *axes], [target], name)
    if not axes:
        node.attribute.append(onnx.helper.make_attribute("axes", [HEIGHT_AXIS]))
    return node


def _place(nodes: Iterable[onnx.NodeProto], node: onnx.NodeProto) -> int:
    return next(place for place, other in enumerate(nodes) if other is node)


class _Pairs:
    """Move each Squeeze behind elementwise operators, and leave it out before an Unsqueeze."""

    def __init__(self, scope: Scope, axes: list[str], new: Additions) -> None:
        self.graph, self.bound, self.readers = scope.graph, scope.bound, scope.readers
        self.axes, self.new = axes, new
        self.nodes = list(self.graph.node)

    def merge(self) -> None:
        for squeeze in [node for node in self.nodes if self._drops_height(node, "Squeeze")]:
            while self._move_behind_reader(squeeze):
                pass
            self._join(squeeze)
        nodes = self.nodes
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        remove_stale_types(self.graph)

    def _drops_height(self, node: onnx.NodeProto, operator: str) -> bool:
        """Return whether a node is this operator on the height alone."""
        if not is_standard(node, operator):
            return False
        if self.axes:
            return list(node.input[1:]) == self.axes
        return [list(attribute.ints) for attribute in node.attribute] == [[HEIGHT_AXIS]]

    def _move_behind_reader(self, squeeze: onnx.NodeProto) -> bool:
        """Let the only reader compute in two dimensions, if it is elementwise; return whether it does."""
        source, result = squeeze.input[0], squeeze.output[0]
        readers = self.readers.get(result, [])
        if result in self.bound or len(readers) != 1 or not _is_elementwise(readers[0], result):
            return False
        reader = readers[0]
        target = reader.output[0]
        wide = self.new.name(f"{target}_2d")
        reader.input[0], reader.output[0] = source, wide
        squeeze.input[0], squeeze.output[0] = wide, target
        del self.readers[result]
        self.readers[source] = [reader if node is squeeze else node for node in self.readers[source]]
        self.readers[wide] = [squeeze]
        del self.nodes[_place(self.nodes, squeeze)]
        self.nodes.insert(_place(self.nodes, reader) + 1, squeeze)
        return True

    def _join(self, squeeze: onnx.NodeProto) -> None:
        """Let the readers of each Unsqueeze behind a Squeeze read what the Squeeze reads."""
        source, result = squeeze.input[0], squeeze.output[0]
        for unsqueeze in [n for n in self.readers.get(result, []) if self._drops_height(n, "Unsqueeze")]:
            widened = unsqueeze.output[0]
            if widened in self.bound:
                continue
            readers = self.readers.pop(widened, [])
            for reader in readers:
                for place, name in enumerate(reader.input):
                    reader.input[place] = source if name == widened else name
            self.readers[source] += readers
            self.readers[result] = [node for node in self.readers[result] if node is not unsqueeze]
            del self.nodes[_place(self.nodes, unsqueeze)]
        if not self.readers.get(result) and result not in self.bound:
            del self.nodes[_place(self.nodes, squeeze)]


def _is_elementwise(node: onnx.NodeProto, name: str) -> bool:
    """Return whether a node computes each element of this input by itself, whatever the rank."""
    elementwise = is_standard(node, *ELEMENTWISE)
    whole = any(attribute.name == "spatial" for attribute in node.attribute)  # of an old BatchNormalization
    return elementwise and not whole and len(node.output) == 1 and node.input[0] == name
