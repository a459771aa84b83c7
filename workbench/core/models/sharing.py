"""The structure of a model as a shareable file: no weights, source lines, stack traces or folders.

Constants that shapes need stay, by rule and not by size: integers of at most one dimension that reach a
shape, axes, index or count input, and the scales of a Resize. The model's metadata lists their names. Of
attributes only settings stay, by an allow list.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped]
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from workbench.core.models.graph_walk import NAME_SCOPES
from workbench.core.models.structure import tensors_of
from workbench.core.rewrites.graphs import bodies

KEPT_CONSTANTS = "workbench.kept_constants"  # the metadata entry with their names

_SHAPE_INPUTS = {
    "Reshape": (1,), "Expand": (1,), "Tile": (1,), "Slice": (1, 2, 3, 4), "Resize": (2, 3), "Upsample": (1,),
    "ConstantOfShape": (0,), "Pad": (1, 3), "Squeeze": (1,), "Unsqueeze": (1,), "TopK": (1,), "Split": (1,),
    "Range": (0, 1, 2), "OneHot": (1,), "CumSum": (1,), "CenterCropPad": (1,), "AffineGrid": (1,),
    **dict.fromkeys(
        ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
         "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"), (1,),
    ),
}  # fmt: skip
_SCALES = {("Resize", 2), ("Upsample", 1)}  # floats, one per dimension
_SHAPE_ARITHMETIC = frozenset({
    "Concat", "Gather", "Unsqueeze", "Squeeze", "Cast", "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Min",
    "Max", "Slice", "Identity", "Where", "Equal", "Floor", "Ceil", "Range", "ConstantOfShape",
    "ReduceProd", "Reshape",
})  # fmt: skip
_INTEGERS = frozenset({TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL})
# Operators whose attributes are known: single numbers stay, and of lists and texts those named below.
_OWN_DOMAINS = frozenset({"", "ai.onnx", "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"})
_LISTS = frozenset({
    "axes", "dilations", "directions", "ends", "kernel_shape", "output_padding", "output_shape", "paddings",
    "pads", "perm", "pooled_shape", "qkv_hidden_sizes", "scan_input_axes", "scan_input_directions",
    "scan_output_axes", "scan_output_directions", "shape", "split", "starts", "strides",
})  # fmt: skip
_TEXTS = frozenset({
    "activation", "activation_type", "approximate", "auto_pad", "coordinate_transformation_mode", "direction",
    "equation", "keep_aspect_ratio_policy", "mode", "nearest_mode", "padding_mode", "qkv_format", "reduction",
    "round_mode", "to",
})  # fmt: skip
_VALUES = frozenset({"f", "i", "s", "floats", "ints", "strings"})  # fields of an attribute beside its tensors
_PLACE = frozenset({"location", "offset", "length"})  # keys of external weights

_Needed = set[tuple[str, bool]]  # (constant's name, whether shapes may need its floats)


def shareable(structure: bytes) -> bytes:
    """Return the model without weights, documentation strings and metadata; nothing for damaged bytes."""
    model = ModelProto()
    try:
        model.ParseFromString(structure)
    except DecodeError:
        return b""
    model.DiscardUnknownFields()
    model.ClearField("training_info")
    kept: set[str] = set()
    for graph in (model.graph, *model.functions):
        _strip_graph(graph, kept)
    _strip_texts(model)
    entry = model.metadata_props.add()
    entry.key, entry.value = KEPT_CONSTANTS, "\n".join(sorted(kept))
    return bytes(model.SerializeToString(deterministic=True))


def _strip_graph(graph: GraphProto | FunctionProto, kept: set[str]) -> _Needed:
    """Strip a graph and its subgraphs, add the remaining constants to `kept`, and return what shapes need."""
    needed: _Needed = set()
    for node in graph.node:
        for body in bodies(node):
            needed |= _strip_graph(body, kept)
    needed = _with_sources(graph, needed)
    constants = _constants(graph)
    stay = {
        name
        for name, tensor in constants.items()
        if len(tensor.dims) <= 1
        and ((name, True) in needed or ((name, False) in needed and tensor.data_type in _INTEGERS))
    }
    kept |= stay
    if isinstance(graph, GraphProto):
        graph.ClearField("quantization_annotation")
        for tensor in graph.initializer:
            if tensor.name not in stay:
                _strip(tensor)
        for sparse in graph.sparse_initializer:
            _strip(sparse.values)
            _strip(sparse.indices)
    else:
        for attribute in graph.attribute_proto:  # default values
            _strip_attribute(attribute, frozenset({"i"}))
            attribute.ClearField("g")
            attribute.ClearField("graphs")
    for node in graph.node:
        if not (node.op_type == "Constant" and node.output and node.output[0] in stay):
            for attribute in node.attribute:
                _strip_attribute(attribute, _fields_that_stay(node, attribute))
    own = constants.keys() | {output for node in graph.node for output in node.output}
    return {(name, floats) for name, floats in needed if name not in own}


def _with_sources(graph: GraphProto | FunctionProto, needed: _Needed) -> _Needed:
    """Return the constants that shapes of a graph and its subgraphs need, also through arithmetic."""
    makers = {output: node for node in graph.node for output in node.output}
    needed = needed | {
        (node.input[place], (node.op_type, place) in _SCALES)
        for node in graph.node
        for place in _SHAPE_INPUTS.get(node.op_type, ())
        if place < len(node.input) and node.input[place]
    }
    waiting = [name for name, _ in needed]
    while waiting:
        maker = makers.get(waiting.pop())
        if maker is not None and maker.op_type in _SHAPE_ARITHMETIC:
            sources = {(name, False) for name in maker.input if name} - needed
            needed |= sources
            waiting += [name for name, _ in sources]
    return needed


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


def _fields_that_stay(node: NodeProto, attribute: AttributeProto) -> frozenset[str]:
    """Return the fields of an attribute that hold a setting of the operator, by an allow list."""
    if node.op_type == "Constant":
        return frozenset()
    if node.domain not in _OWN_DOMAINS:
        return frozenset({"i"})
    fields = {"f", "i"}
    if attribute.name in _LISTS:
        fields.add("ints")
    if attribute.name in _TEXTS:
        fields.add("s")
    if (node.op_type, attribute.name) == ("Upsample", "scales"):
        fields.add("floats")
    return frozenset(fields)


def _strip_attribute(attribute: AttributeProto, stay: frozenset[str]) -> None:
    for tensor in tensors_of(attribute):
        _strip(tensor)
    for field in _VALUES - stay:
        attribute.ClearField(field)


def _strip(tensor: TensorProto) -> None:
    """Keep name, type and shape; of external data keep the file name without folders, and the position."""
    kept = TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)
    if tensor.HasField("data_location"):
        kept.data_location = tensor.data_location
    for entry in tensor.external_data:
        if entry.key in _PLACE:
            kept.external_data.add(key=entry.key, value=entry.value.replace("\\", "/").rpartition("/")[2])
    tensor.CopyFrom(kept)


def _strip_texts(message: Message) -> None:
    """Clear `doc_string` and `metadata_props` of the message and of all nested messages."""
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
