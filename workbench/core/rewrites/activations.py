"""GELU in any form, written as one operator."""

from math import pi, sqrt

import onnx

from workbench.core.rewrites.edits import remove_unread_nodes
from workbench.core.rewrites.scopes import FLOAT_TYPES, Scope, is_standard, opset_of, scopes_of

GELU_OPSET = 20  # since then, Gelu is an operator of ONNX
ORT_DOMAIN = "com.microsoft"  # where ORT has it for older files
CUBIC = 0.044715


def fuse_gelus(model: onnx.ModelProto) -> int:
    """Replace the nodes of each GELU by one Gelu (FastGelu for tanh in older files); return how many."""
    is_new = opset_of(model) >= GELU_OPSET
    count = 0
    for scope in scopes_of(model):
        for anchor in [node for node in scope.graph.node if is_standard(node, "Erf", "Tanh")]:
            source = _argument(scope, anchor)
            known = None if source is None else scope.types.get(source)
            last = None if source is None else _last_product(scope, anchor, source)
            if source is None or last is None or known is None or known.element not in FLOAT_TYPES:
                continue
            is_tanh = anchor.op_type == "Tanh"
            last.op_type = "Gelu" if is_new or not is_tanh else "FastGelu"
            last.domain = "" if is_new else ORT_DOMAIN
            del last.input[:]
            last.input.append(source)
            if is_new and is_tanh:
                last.attribute.append(onnx.helper.make_attribute("approximate", "tanh"))
            count += 1
    if count:
        if not is_new and all(entry.domain != ORT_DOMAIN for entry in model.opset_import):
            model.opset_import.append(onnx.helper.make_opsetid(ORT_DOMAIN, 1))
        remove_unread_nodes(model, "Erf", "Tanh", "Add", "Mul", "Div", "Pow")
    return count


def _argument(scope: Scope, anchor: onnx.NodeProto) -> str | None:
    """Return x of erf(x / √2), or of tanh(√(2/π) · (x + 0.044715 · x³))."""
    if anchor.op_type == "Erf":
        divided = scope.maker(anchor.input[0], "Div")
        if divided is not None:
            return str(divided.input[0]) if scope.is_number(divided.input[1], sqrt(2)) else None
        factors = scope.factors(anchor.input[0])
        return _without(scope, factors, sqrt(0.5))
    inner = _without(scope, scope.factors(anchor.input[0]), sqrt(2 / pi))
    add = None if inner is None else scope.maker(inner, "Add")
    if add is None:
        return None
    for source, cube in (tuple(add.input), tuple(reversed(add.input))):
        factors = scope.factors(cube)
        rest = [name for name in factors if name != source]
        if len(factors) == 4 and len(rest) == 1 and scope.is_number(rest[0], CUBIC):
            return str(source)
    return None


def _last_product(scope: Scope, anchor: onnx.NodeProto, source: str) -> onnx.NodeProto | None:
    """Return the Mul that completes x · (1 + f) · ½, in any order."""
    add = scope.only_reader(anchor.output[0], "Add")
    if add is None or not any(scope.is_number(name, 1.0) for name in add.input):
        return None
    node, name = add, add.output[0]
    for _ in range(2):
        product = scope.only_reader(node.output[0], "Mul")
        if product is None:
            return None
        factors = [factor for part in product.input for factor in scope.factors(part)]
        rest = [factor for factor in factors if factor != name]
        if len(factors) == 3 and source in rest:
            rest.remove(source)
            return product if scope.is_number(rest[0], 0.5) else None
        node = product
    return None


def _without(scope: Scope, factors: list[str], value: float) -> str | None:
    """Return the other one of two factors, if one is this number."""
    if len(factors) != 2:
        return None
    for factor, other in (factors, factors[::-1]):
        if scope.is_number(factor, value):
            return other
    return None
