"""The structure of a model as a file to hand on: without weights, source lines, stack traces and folders.

Constants that shapes need stay, by rule and not by size: integers of at most one dimension that reach an
input which says a shape, axes, indices or a count, and the scales of a Resize. Their names stand in the
metadata of the model.
"""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped]
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from workbench.models.structure import graphs

KEPT_CONSTANTS = "workbench.kept_constants"  # the metadata entry that lists them
NAME_SCOPES = "pkg.torch.onnx.name_scopes"  # names of modules, by which nodes are grouped

_SHAPE_INPUTS = {
    "Reshape": (1,), "Expand": (1,), "Tile": (1,), "Slice": (1, 2, 3, 4), "Resize": (2, 3), "Upsample": (1,),
    "ConstantOfShape": (0,), "Pad": (1, 3), "Squeeze": (1,), "Unsqueeze": (1,), "TopK": (1,), "Split": (1,),
    "Range": (0, 1, 2), "OneHot": (1,), "CumSum": (1,), "CenterCropPad": (1,), "AffineGrid": (1,),
    **dict.fromkeys(
        ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
         "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"), (1,),
    ),
}  # fmt: skip
_SCALES = {("Resize", 2), ("Upsample", 1)}  # of floats, one a dimension
_SHAPE_ARITHMETIC = frozenset({
    "Concat", "Gather", "Unsqueeze", "Squeeze", "Cast", "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Min",
    "Max", "Slice", "Identity", "Where", "Equal", "Floor", "Ceil", "Range", "ConstantOfShape",
    "ReduceProd", "Reshape",
})  # fmt: skip
_INTEGERS = frozenset({TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL})
_PAYLOAD = (
    "raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data",
    "segment",
)  # fmt: skip
_ML = "ai.onnx.ml"  # the weights of its operators are attributes
_COMPILED = "ep_cache_context"  # of an EPContext node: the compiled model itself


def shareable(structure: bytes) -> bytes:
    """The model without its weights, documentation strings and metadata; nothing of damaged bytes."""
    model = ModelProto()
    try:
        model.ParseFromString(structure)
    except DecodeError:
        return b""
    kept = {name for graph in graphs(model) for name in _kept(graph)}
    for graph in graphs(model):
        _strip_graph(graph, kept)
    _strip_texts(model)
    entry = model.metadata_props.add()
    entry.key, entry.value = KEPT_CONSTANTS, "\n".join(sorted(kept))
    return bytes(model.SerializeToString(deterministic=True))


def _kept(graph: GraphProto | FunctionProto) -> set[str]:
    """The names of constants that shapes need."""
    makers = {output: node for node in graph.node for output in node.output}
    constants = _constants(graph)
    names: set[str] = set()
    waiting: list[str] = []
    for node in graph.node:
        for place in _SHAPE_INPUTS.get(node.op_type, ()):
            if place < len(node.input) and node.input[place]:
                name = node.input[place]
                waiting.append(name)
                if (node.op_type, place) in _SCALES and name in constants:
                    names.add(name)
    reached = set(waiting)
    while waiting:
        name = waiting.pop()
        tensor, maker = constants.get(name), makers.get(name)
        if tensor is not None and tensor.data_type in _INTEGERS and len(tensor.dims) <= 1:
            names.add(name)
        elif maker is not None and maker.op_type in _SHAPE_ARITHMETIC:
            waiting += [source for source in maker.input if source and source not in reached]
            reached |= set(maker.input)
    return names


def _constants(graph: GraphProto | FunctionProto) -> dict[str, TensorProto]:
    named = {tensor.name: tensor for tensor in getattr(graph, "initializer", ())}
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            for attribute in node.attribute:
                if attribute.name == "value":
                    named[node.output[0]] = attribute.t
                elif attribute.name in ("value_int", "value_ints"):
                    named[node.output[0]] = TensorProto(data_type=TensorProto.INT64)
    return named


def _strip_graph(graph: GraphProto | FunctionProto, kept: set[str]) -> None:
    if isinstance(graph, GraphProto):
        for tensor in graph.initializer:
            if tensor.name not in kept:
                _strip(tensor)
        for sparse in graph.sparse_initializer:
            _strip(sparse.values)
            _strip(sparse.indices)
    for node in graph.node:
        constant = node.op_type == "Constant" and bool(node.output)
        if not (constant and node.output[0] in kept):
            for attribute in node.attribute:
                _strip_attribute(node, attribute, constant)


def _strip_attribute(node: NodeProto, attribute: AttributeProto, constant: bool) -> None:
    for tensor in _tensors(attribute):
        _strip(tensor)
    if constant or node.domain == _ML or attribute.name == _COMPILED:
        for field in ("f", "i", "s", "floats", "ints", "strings"):
            if constant or field in ("floats", "strings") or attribute.name == _COMPILED:
                attribute.ClearField(field)


def _tensors(attribute: AttributeProto) -> Iterator[TensorProto]:
    if attribute.HasField("t"):
        yield attribute.t
    if attribute.HasField("sparse_tensor"):
        yield from (attribute.sparse_tensor.values, attribute.sparse_tensor.indices)
    yield from attribute.tensors
    for sparse in attribute.sparse_tensors:
        yield from (sparse.values, sparse.indices)


def _strip(tensor: TensorProto) -> None:
    """Name, type and shape stay; of a file of weights its name without the folders."""
    for field in _PAYLOAD:
        tensor.ClearField(field)
    for entry in tensor.external_data:
        if entry.key == "location":
            entry.value = entry.value.replace("\\", "/").rpartition("/")[2]


def _strip_texts(message: Message) -> None:
    """Clear `doc_string` and `metadata_props` of the message and of all that it holds."""
    for field, value in message.ListFields():
        if field.name == "doc_string":
            message.ClearField("doc_string")
        elif field.name == "metadata_props":
            scopes = [entry.value for entry in value if entry.key == NAME_SCOPES]
            message.ClearField("metadata_props")
            for text in scopes:
                message.metadata_props.add(key=NAME_SCOPES, value=text)
        elif field.type == field.TYPE_MESSAGE:
            for part in value if hasattr(value, "add") else (value,):
                _strip_texts(part)
