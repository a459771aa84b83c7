"""Powers with a simple constant exponent, written as cheaper operators."""

from math import prod

import onnx
from onnx import numpy_helper

from workbench.core.rewrites.edits import Additions, replace_nodes
from workbench.core.rewrites.scopes import FLOAT_TYPES, Scope, opset_of

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
    return 0 if opset_of(model) < LEAST_POWER_OPSET else replace_nodes(model, "Pow", _spelled_power)


def _operators_of(node: onnx.NodeProto, scope: Scope) -> tuple[str, ...]:
    """Return the operators that compute the same as a Pow; none where it must stay."""
    if len(node.input) != 2:
        return ()
    exponent, base = scope.constants.get(node.input[1]), scope.types.get(node.input[0])
    if exponent is None or base is None or base.element not in FLOAT_TYPES or prod(exponent.dims) != 1:
        return ()
    if len(exponent.dims) and (base.rank is None or base.rank < len(exponent.dims)):
        return ()  # the exponent may add dimensions to the output
    return SPELLED_POWERS.get(float(numpy_helper.to_array(exponent).reshape(-1)[0]), ())


def _spelled_power(power: onnx.NodeProto, scope: Scope, new: Additions) -> list[onnx.NodeProto]:
    """Return the operators that compute the same as a Pow; the last one keeps its name and output."""
    operators = _operators_of(power, scope)
    if not operators:
        return []
    value, made = power.input[0], list[onnx.NodeProto]()
    for operator in operators[:-1]:
        result = new.name(f"{power.output[0]}_{operator.lower()}")
        name = new.node_name(power, operator.lower())
        inputs = [value, value] if operator == "Mul" else [value]
        made.append(onnx.helper.make_node(operator, inputs, [result], name))
        value = result
    power.op_type = operators[-1]
    del power.input[:]
    power.input.extend([value, value] if operators[-1] == "Mul" else [value])
    return [*made, power]
