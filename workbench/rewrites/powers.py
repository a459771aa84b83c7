"""Powers with a simple constant exponent, written as cheaper operators."""

from math import prod

import onnx
from onnx import numpy_helper

from workbench.rewrites.scopes import FLOAT_TYPES, Scope, is_standard, names_in, new_name, opset_of, scopes_of

LEAST_POWER_OPSET = 7  # before it, Pow broadcast by an attribute
SPELLED_POWERS: dict[float, tuple[str, ...]] = {
    0.5: ("Sqrt",),
    -0.5: ("Sqrt", "Reciprocal"),
    1.0: ("Identity",),
    -1.0: ("Reciprocal",),
    4.0: ("Mul", "Mul"),
}


def spell_powers_out(model: onnx.ModelProto) -> int:
    """Replace each Pow of floats whose exponent is one of the simple ones; return how many."""
    if opset_of(model) < LEAST_POWER_OPSET:
        return 0
    taken = names_in(model)
    count = 0
    for scope in scopes_of(model):
        for place in reversed(range(len(scope.graph.node))):
            power = scope.graph.node[place]
            operators = _operators_of(power, scope)
            if operators:
                _replace_power(scope.graph, place, operators, taken)
                count += 1
    return count


def _operators_of(node: onnx.NodeProto, scope: Scope) -> tuple[str, ...]:
    """Return the operators that compute the same as a Pow; none where it must stay."""
    if not is_standard(node, "Pow") or len(node.input) != 2:
        return ()
    exponent, base = scope.constants.get(node.input[1]), scope.types.get(node.input[0])
    if exponent is None or base is None or base.element not in FLOAT_TYPES or prod(exponent.dims) != 1:
        return ()
    if len(exponent.dims) and (base.rank is None or base.rank < len(exponent.dims)):
        return ()  # the exponent may add dimensions to the output
    return SPELLED_POWERS.get(float(numpy_helper.to_array(exponent).reshape(-1)[0]), ())


def _replace_power(graph: onnx.GraphProto, place: int, operators: tuple[str, ...], taken: set[str]) -> None:
    """Put the operators in the place of a Pow; the last one keeps its name and output."""
    power = graph.node[place]
    value = power.input[0]
    for operator in operators[:-1]:
        made = new_name(f"{power.output[0]}_{operator.lower()}", taken)
        name = new_name(f"{power.name}_{operator.lower()}", taken) if power.name else ""
        inputs = [value, value] if operator == "Mul" else [value]
        graph.node.insert(place, onnx.helper.make_node(operator, inputs, [made], name))
        place, value = place + 1, made
    power = graph.node[place]
    power.op_type = operators[-1]
    del power.input[:]
    power.input.extend([value, value] if operators[-1] == "Mul" else [value])
