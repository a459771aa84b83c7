"""Functions that the file holds: their nodes in the place of each call."""

import onnx
from onnx.inliner import inline_selected_functions

from workbench.core.rewrites.activations import ORT_DOMAIN
from workbench.core.rewrites.graphs import graphs
from workbench.core.rewrites.scopes import DEFAULT_DOMAINS


def inline_functions(model: onnx.ModelProto) -> int:
    """Put the nodes of functions in the place of their calls; return how many calls there were.

    A function of ONNX or ORT stays: where it has a kernel, ORT takes that. All stay where one is written for
    another version of an operator set than the file: the inliner takes none of them then.
    """
    opsets = [
        *model.opset_import,
        *(opset for function in model.functions for opset in function.opset_import),
    ]
    versions = {(opset.domain or "ai.onnx", opset.version) for opset in opsets}
    if len({domain for domain, _ in versions}) < len(versions):
        return 0
    own = [(function.domain, function.name) for function in model.functions]
    kept = [name for name in own if name[0] in (*DEFAULT_DOMAINS, ORT_DOMAIN)]
    inlined = {*own} - {*kept}
    calls = sum((node.domain, node.op_type) in inlined for graph in graphs(model) for node in graph.node)
    if calls:
        weights = [*model.graph.initializer]
        del model.graph.initializer[:]  # the inliner takes no model above 2 GiB
        model.CopyFrom(inline_selected_functions(model, kept, exclude=True))
        model.graph.initializer.extend(weights)
    return calls
