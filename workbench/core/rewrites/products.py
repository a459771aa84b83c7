"""Products that an operator hides: Einsum and Loop written as MatMul, and logits of the last position."""

import numpy as np
import onnx

from workbench.core.rewrites.edits import Additions, remove_stale_types, replace_nodes
from workbench.core.rewrites.scopes import Scope, attribute_of, is_standard, opset_of, scopes_of

SLICE_INPUTS_OPSET = 10
VOCABULARY = 1_000  # columns; a product with fewer makes no logits


def spell_einsums_out(model: onnx.ModelProto) -> int:
    """Replace each Einsum of two tensors that is one product by Transpose and MatMul; return how many."""
    return replace_nodes(model, "Einsum", _spelled_einsum)


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


def _spelled_einsum(node: onnx.NodeProto, _: Scope, new: Additions) -> list[onnx.NodeProto]:
    """Return MatMul for an Einsum, between the transposes that it needs."""
    plan = product_of(node)
    if plan is None:
        return []
    result, made = node.output[0], [node]
    *operands, back = plan
    for side, order in enumerate(operands):
        if order != sorted(order):
            ordered = new.name(f"{result}_operand{side}")
            name = new.node_name(node, f"transpose{side}")
            transpose = onnx.helper.make_node("Transpose", [node.input[side]], [ordered], name, perm=order)
            made.insert(-1, transpose)
            node.input[side] = ordered
    node.op_type = "MatMul"
    del node.attribute[:]
    if back != sorted(back):
        node.output[0] = new.name(f"{result}_product")
        name = new.node_name(node, "transpose")
        made.append(onnx.helper.make_node("Transpose", [node.output[0]], [result], name, perm=back))
    return made


def keep_last_logits(model: onnx.ModelProto) -> int:
    """Compute the last product for the last position only; the output then has one position.

    The product is a MatMul of a tensor of rank 3 with a constant matrix, and an output of the model.
    """
    if opset_of(model) < SLICE_INPUTS_OPSET:
        return 0
    new, count, graph = Additions(model), 0, model.graph
    outputs = {value.name: value for value in graph.output}
    main = scopes_of(model)[0]
    for node in [node for node in graph.node if is_standard(node, "MatMul") and node.output[0] in outputs]:
        table, known = main.constants.get(node.input[1]), main.types.get(node.input[0])
        is_table = table is not None and len(table.dims) == 2 and table.dims[1] >= VOCABULARY
        if not is_table or node.output[0] in main.readers or known is None or known.rank != 3:
            continue
        bounds = [
            new.constant(f"last_{word}", np.array([value], np.int64))
            for word, value in (("start", -1), ("end", np.iinfo(np.int64).max), ("axis", 1))
        ]
        last = new.name(f"{node.input[0]}_last")
        cut = onnx.helper.make_node("Slice", [node.input[0], *bounds], [last], new.node_name(node, "last"))
        graph.node.insert(list(graph.node).index(node), cut)
        node.input[0] = last
        dims = outputs[node.output[0]].type.tensor_type.shape.dim
        if len(dims) == 3:
            dims[1].Clear()
            dims[1].dim_value = 1
        count += 1
    if count:
        remove_stale_types(graph)
    return count
