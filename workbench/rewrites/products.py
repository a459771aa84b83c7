"""Products that an operator hides: Einsum and Loop written as MatMul, and logits of the last position."""

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.rewrites.scopes import is_standard, names_in, new_name, opset_of, scopes_of
from workbench.rewrites.wiring import attribute_of, remove_stale_types, wirings_of

SLICE_INPUTS_OPSET = 10
VOCABULARY = 1_000  # columns; a product with fewer makes no logits


def spell_einsums_out(model: onnx.ModelProto) -> int:
    """Replace each Einsum of two tensors that is one product by Transpose and MatMul; return how many."""
    taken, count = names_in(model), 0
    for scope in scopes_of(model):
        for place in reversed(range(len(scope.graph.node))):
            node = scope.graph.node[place]
            plan = product_of(node) if is_standard(node, "Einsum") else None
            if plan is not None:
                _replace_einsum(scope.graph, place, plan, taken)
                count += 1
    return count


def product_of(node: onnx.NodeProto) -> tuple[list[int], list[int], list[int]] | None:
    """Return the orders of the axes of inputs and output around a MatMul; None for another sum."""
    equation = attribute_of(node, "equation")
    text = "" if equation is None else equation.s.decode().replace(" ", "")
    terms, arrow, result = text.partition("->")
    if not arrow or terms.count(",") != 1 or not (terms + result).replace(",", "").isalpha():
        return None
    first, second = terms.split(",")
    if any(len(set(term)) != len(term) for term in (first, second, result)):
        return None
    shared = [label for label in result if label in first and label in second]
    rows = [label for label in result if label in first and label not in second]
    columns = [label for label in result if label in second and label not in first]
    summed = [label for label in first if label in second and label not in result]
    complete = set(first) == {*shared, *rows, *summed} and set(second) == {*shared, *columns, *summed}
    if not complete or len(columns) != 1 or len(summed) != 1 or not rows or (shared and len(rows) != 1):
        return None
    made = [*shared, *rows, *columns]
    orders = (first, [*shared, *rows, *summed]), (second, [*shared, *summed, *columns]), (made, list(result))
    left, right, back = ([list(source).index(label) for label in target] for source, target in orders)
    return left, right, back


def _replace_einsum(
    graph: onnx.GraphProto, place: int, plan: tuple[list[int], list[int], list[int]], taken: set[str]
) -> None:
    """Put MatMul in the place of an Einsum, between the transposes that it needs."""
    node = graph.node[place]
    result, stem = node.output[0], node.name
    left, right, back = plan
    before: list[onnx.NodeProto] = []
    for side, order in enumerate((left, right)):
        if order != sorted(order):
            ordered = new_name(f"{result}_operand{side}", taken)
            name = new_name(f"{stem}_transpose{side}", taken) if stem else ""
            before.append(onnx.helper.make_node("Transpose", [node.input[side]], [ordered], name, perm=order))
            node.input[side] = ordered
    node.op_type = "MatMul"
    del node.attribute[:]
    if back != sorted(back):
        node.output[0] = new_name(f"{result}_product", taken)
        name = new_name(f"{stem}_transpose", taken) if stem else ""
        last = onnx.helper.make_node("Transpose", [node.output[0]], [result], name, perm=back)
        graph.node.insert(place + 1, last)
    for made in reversed(before):
        graph.node.insert(place, made)


def keep_last_logits(model: onnx.ModelProto) -> int:
    """Compute the last product for the last position only; the output then has one position.

    The product is a MatMul of a tensor of rank 3 with a constant matrix, and an output of the model.
    """
    if opset_of(model) < SLICE_INPUTS_OPSET:
        return 0
    taken, count, graph = names_in(model), 0, model.graph
    outputs = {value.name: value for value in graph.output}
    main = wirings_of(model)[0]
    for node in [node for node in graph.node if is_standard(node, "MatMul") and node.output[0] in outputs]:
        table, known = main.scope.constants.get(node.input[1]), main.scope.types.get(node.input[0])
        if (
            table is None
            or len(table.dims) != 2
            or table.dims[1] < VOCABULARY
            or node.output[0] in main.readers
        ):
            continue
        if known is None or known.rank != 3:
            continue
        bounds = []
        for word, value in (("start", -1), ("end", np.iinfo(np.int64).max), ("axis", 1)):
            bounds.append(new_name(f"last_{word}", taken))
            graph.initializer.append(numpy_helper.from_array(np.array([value], np.int64), bounds[-1]))
        last = new_name(f"{node.input[0]}_last", taken)
        name = new_name(f"{node.name}_last", taken) if node.name else ""
        cut = onnx.helper.make_node("Slice", [node.input[0], *bounds], [last], name)
        graph.node.insert(list(graph.node).index(node), cut)
        node.input[0] = last
        dims = outputs[node.output[0]].type.tensor_type.shape.dim
        if len(dims) == 3:
            dims[1].Clear()
            dims[1].dim_value = 1
        count += 1
    if count:
        remove_stale_types(model)
    return count
