"""Loops whose steps do not depend on each other, computed in one go."""

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.core.rewrites.edits import Additions, put_in_place, remove_stale_types
from workbench.core.rewrites.scopes import (
    Scope,
    attribute_of,
    defined_names,
    integer_of,
    is_standard,
    opset_of,
    scopes_of,
    value_of,
)

AXES_AS_INPUT_OPSET = 13
ROW_WISE = (
    *("Abs", "Ceil", "Clip", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "Identity", "LeakyRelu"),
    *("Log", "Neg", "Reciprocal", "Relu", "Sigmoid", "Sqrt", "Tanh"),
)
OF_TWO = ("Add", "Div", "Mul", "Sub")


def unroll_loops(model: onnx.ModelProto) -> int:
    """Replace each Loop whose steps take one row each and carry nothing by its body; return how many."""
    if opset_of(model) < AXES_AS_INPUT_OPSET:
        return 0
    new, count = Additions(model), 0
    scopes = {id(scope.graph): scope for scope in scopes_of(model)}
    main = scopes[id(model.graph)]
    for place in reversed(range(len(model.graph.node))):
        node = model.graph.node[place]
        body = attribute_of(node, "body") if is_standard(node, "Loop") else None
        if body is None:
            continue
        steps = _Steps(node, main, scopes[id(body.g)], new)
        if steps.are_made():
            put_in_place(model.graph, place, steps.made)
            model.graph.initializer.extend(steps.constants)
            count += 1
    if count:
        remove_stale_types(model.graph)
    return count


class _Steps:
    """The body of one Loop with the step as the first axis of every tensor that depends on it."""

    def __init__(self, loop: onnx.NodeProto, outer: Scope, inner: Scope, new: Additions) -> None:
        self.loop, self.outer, self.inner, self.new = loop, outer, inner, new
        self.body = inner.graph
        self.own = defined_names(self.body)
        self.by_step: dict[str, str] = {}  # a tensor of the body → that of all steps
        self.constants: list[onnx.TensorProto] = []  # that the nodes read
        self.renamed: dict[str, str] = {}  # a constant of the body → its name beside those of other bodies
        self.made: list[onnx.NodeProto] = []
        for tensor in self.body.initializer:
            self._keep(tensor, tensor.name)

    def are_made(self) -> bool:
        """Make the nodes that compute all steps; return False if some cannot."""
        count = self.outer.constants.get(self.loop.input[0])
        if count is None or len(self.loop.input) > 2 or len(self.body.input) != 2 or not self._goes_on():
            return False
        self.steps = int(numpy_helper.to_array(count).reshape(-1)[0])
        if self.steps < 1:
            return False
        ends = {value.name for value in self.body.output[:1]}
        for node in self.body.node:
            if node.output[0] not in ends and not self._take(node):
                return False
        for value, result in zip(self.body.output[1:], self.loop.output, strict=True):
            if value.name not in self.by_step:
                return False
            self.made.append(onnx.helper.make_node("Identity", [self.by_step[value.name]], [result]))
        return True

    def _goes_on(self) -> bool:
        """Return whether every step is taken: the condition is true at first and never changes."""
        first = self.outer.constants.get(self.loop.input[1]) if self.loop.input[1] else None
        if self.loop.input[1] and (first is None or not numpy_helper.to_array(first).all()):
            return False
        name = self.body.output[0].name
        maker = next((node for node in self.body.node if name in node.output), None)
        if maker is not None and is_standard(maker, "Identity"):
            name = maker.input[0]
        known = self.inner.constants.get(name)
        return name == self.body.input[1].name or (
            known is not None and bool(numpy_helper.to_array(known).all())
        )

    def _take(self, node: onnx.NodeProto) -> bool:
        """Add the node that does the same for all steps; return whether there is one."""
        if is_standard(node, "Constant"):
            value = value_of(node)
            if value is not None:
                self._keep(value, node.output[0])
            return value is not None
        if is_standard(node, "Gather"):
            return self._take_row(node)
        if any(name in (value.name for value in self.body.input) for name in node.input):
            return False  # the number of the step in an arithmetic of its own
        inputs = list(node.input)
        if is_standard(node, *ROW_WISE):
            fits = inputs[0] in self.by_step and not any(name in self.by_step for name in inputs[1:])
        elif is_standard(node, *OF_TWO):
            fits = self._broadcasts(inputs)
        elif is_standard(node, "MatMul"):
            is_matrix = inputs[1] not in self.by_step and self._rank(inputs[1]) == 2
            fits = inputs[0] in self.by_step and is_matrix
        else:
            is_moved = is_standard(node, "Unsqueeze", "Squeeze") and len(inputs) == 2
            return is_moved and self._take_axes(node)
        if fits:
            self._add(node, [self.by_step.get(name, self.renamed.get(name, name)) for name in inputs])
        return fits

    def _take_row(self, node: onnx.NodeProto) -> bool:
        """Let the rows of all steps be the tensor that one step takes its row of."""
        source = node.input[0]
        known = self.outer.types.get(source)
        step = self.body.input[0].name
        is_step = node.input[1] == step and self._rank(step) != 1 and source not in self.own
        if not is_step or integer_of(node, "axis", 0) or known is None or not known.dims:
            return False
        if known.dims[0] != self.steps:
            return False
        self.by_step[node.output[0]] = source
        return True

    def _keep(self, tensor: onnx.TensorProto, name: str) -> None:
        """Keep a constant of the body for the main graph."""
        copy = onnx.TensorProto()
        copy.CopyFrom(tensor)
        copy.name = self.renamed[name] = self.new.name(name)
        self.constants.append(copy)

    def _take_axes(self, node: onnx.NodeProto) -> bool:
        axes = self.inner.constants.get(node.input[1])
        if axes is None or node.input[0] not in self.by_step:
            return False
        values = np.asarray(numpy_helper.to_array(axes), np.int64).reshape(-1)
        moved = self.new.name(f"{node.output[0]}_axes")
        self.constants.append(numpy_helper.from_array(np.where(values >= 0, values + 1, values), moved))
        self._add(node, [self.by_step[node.input[0]], moved])
        return True

    def _broadcasts(self, inputs: list[str]) -> bool:
        """Return whether both inputs broadcast for all steps as for one: by their last axes."""
        first, second = (self._rank(name) for name in inputs)
        if first is None or second is None:
            return False
        stepped = [name in self.by_step for name in inputs]
        if all(stepped):
            return first == second
        return any(stepped) and (first >= second if stepped[0] else second >= first)

    def _rank(self, name: str) -> int | None:
        known = self.inner.types.get(name)
        return None if known is None else known.rank

    def _add(self, node: onnx.NodeProto, inputs: list[str]) -> None:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        result = self.new.name(f"{node.output[0]}_all")
        del copy.input[:]
        copy.input.extend(inputs)
        copy.output[0] = self.by_step[node.output[0]] = result
        copy.name = self.new.node_name(node, "all")
        self.made.append(copy)
