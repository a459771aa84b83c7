"""The conversion of a model file to float16 that the job `half` makes, by ORT's tools and onnx alone.

Scripts embed its source, with all that it names of the workbench.
"""

import contextlib
import tempfile

import onnx

from workbench.core.worker.preparing.conversions import MOST_IN_ONE_FILE, save, weight_bytes

ORT_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc")
FLOAT16_MOST = 65_504.0
INFINITE_FROM = 1e30


def to_float16(
    source: str, target: str, keep_io: bool, blocked_ops: list[str]
) -> tuple[list[str], list[str]]:
    """Convert by ORT's converter; return the nodes kept in float32: with large weights, and custom ones."""
    from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST
    from onnxruntime.transformers.onnx_model import OnnxModel

    model = OnnxModel(onnx.load(source))
    kept, custom = beyond_float16(model.model.graph), custom_nodes(model.model)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # on failing it leaves a file
        model.convert_float_to_float16(
            keep_io_types=keep_io,
            op_block_list=sorted({*DEFAULT_OP_BLOCK_LIST, *blocked_ops}),
            node_block_list=[*kept, *custom],
        )
    model.topological_sort()
    save(model.model, target)
    return kept, custom


def custom_nodes(model: onnx.ModelProto) -> list[str]:
    """Return the nodes of other domains, named where they had none; untyped outputs are said to be float32.

    The converter puts casts around them only where it knows the types.
    """
    graph = model.graph
    nodes = [node for node in graph.node if node.domain not in ORT_DOMAINS]
    typed = {value.name for value in (*graph.value_info, *graph.output)}
    for node in nodes:
        node.name = node.name or f"{node.op_type}_of_{node.output[0]}"
        graph.value_info.extend(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
            for name in node.output
            if name and name not in typed
        )
    if nodes and weight_bytes(graph) <= MOST_IN_ONE_FILE:
        read = {name for node in nodes for name in node.input} - typed
        known = onnx.shape_inference.infer_shapes(model).graph.value_info
        graph.value_info.extend(value for value in known if value.name in read)
    return [node.name for node in nodes]


def beyond_float16(graph: onnx.GraphProto) -> list[str]:
    """Return the nodes that read weights above 65,504, which the converter would cut; name those without.

    Such a weight of a Constant becomes an initializer, which the converter leaves alone for these nodes.
    """
    constants = {
        node.output[0]: attribute.t
        for node in graph.node
        for attribute in node.attribute
        if node.op_type == "Constant" and attribute.name == "value"
    }
    weights = {**constants, **{tensor.name: tensor for tensor in graph.initializer}}
    large = {name for name, tensor in weights.items() if is_beyond_float16(tensor)}
    for name in sorted(large & constants.keys()):
        graph.initializer.add().CopyFrom(constants[name])
        graph.initializer[-1].name = name
    nodes = [node for node in graph.node if node.op_type != "Constant" or node.output[0] not in large]
    if len(nodes) < len(graph.node):
        del graph.node[:]
        graph.node.extend(nodes)
    readers = [node for node in graph.node if large & {*node.input}]
    for node in readers:
        node.name = node.name or f"{node.op_type}_of_{node.output[0]}"
    return [node.name for node in readers]


def is_beyond_float16(tensor: onnx.TensorProto) -> bool:
    """Return whether a float32 weight has a value above float16's largest.

    One number alone, negative ones and those from 1e30 on are left out: they stand for infinity in masks,
    where cutting them is right.
    """
    if tensor.data_type != onnx.TensorProto.FLOAT:
        return False
    values = onnx.numpy_helper.to_array(tensor)
    return values.size > 1 and bool(((values > FLOAT16_MOST) & (values < INFINITE_FROM)).any())
