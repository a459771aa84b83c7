"""Normalizations: LayerNormalization as one operator, batch normalization inside of a convolution."""

import numpy as np
import onnx

from workbench.core.rewrites.edits import Additions, remove_unread_nodes
from workbench.core.rewrites.scopes import Scope, attribute_of, integer_of, is_standard, opset_of, scopes_of

LAYER_NORM_OPSET = 17


def fuse_layer_norms(model: onnx.ModelProto) -> int:
    """Replace the nodes of each LayerNormalization of float32 over the last axis; return how many."""
    if opset_of(model) < LAYER_NORM_OPSET:
        return 0
    new, count = Additions(model), 0
    for scope in scopes_of(model):
        for node in [node for node in scope.graph.node if is_standard(node, "Div")]:
            count += _fuse_layer_norm(scope, node, new)
    if count:
        remove_unread_nodes(model, "ReduceMean", "Sub", "Pow", "Mul", "Add", "Sqrt", "Div")
    return count


def _fuse_layer_norm(scope: Scope, divided: onnx.NodeProto, new: Additions) -> bool:
    match = _normalized(scope, divided)
    if match is None:
        return False
    source, epsilon = match
    known = scope.types.get(source)
    width = None if known is None or not known.dims else known.dims[-1]
    if known is None or known.element != onnx.TensorProto.FLOAT or not isinstance(width, int):
        return False
    last, scale = divided, _vector(scope, divided, "Mul", width)
    if scale is not None:
        last = scope.readers[divided.output[0]][0]
    bias = _vector(scope, last, "Add", width)
    if bias is not None:
        last = scope.readers[last.output[0]][0]
    if scale is None:
        scale = new.constant(f"{last.output[0]}_scale", np.ones(width, np.float32))
    last.op_type = "LayerNormalization"
    del last.input[:]
    last.input.extend([source, scale, *([bias] if bias else [])])
    del last.attribute[:]
    last.attribute.append(onnx.helper.make_attribute("axis", -1))
    last.attribute.append(onnx.helper.make_attribute("epsilon", epsilon))
    return True


def _normalized(scope: Scope, divided: onnx.NodeProto) -> tuple[str, float] | None:
    """Return x and epsilon of (x - mean) / √(variance + epsilon)."""
    centred = scope.maker(divided.input[0], "Sub")
    root = scope.maker(divided.input[1], "Sqrt")
    add = None if root is None else scope.maker(root.input[0], "Add")
    if centred is None or add is None:
        return None
    source = centred.input[0]
    if not _is_mean(scope, centred.input[1], source):
        return None
    for spread, small in (tuple(add.input), tuple(reversed(add.input))):
        epsilon = scope.number(small)
        mean = scope.maker(spread, "ReduceMean")
        if epsilon is None or mean is None or not _is_mean(scope, spread, mean.input[0]):
            continue
        square = scope.maker(mean.input[0], "Pow", "Mul")
        if square is not None and all(_is_centred(scope, name, centred) for name in _squared(scope, square)):
            return source, epsilon
    return None


def _squared(scope: Scope, square: onnx.NodeProto) -> list[str]:
    """Return what is squared; an impossible name for another power."""
    if square.op_type == "Mul":
        return list(square.input)
    return [square.input[0] if scope.is_number(square.input[1], 2.0) else ""]


def _is_centred(scope: Scope, name: str, centred: onnx.NodeProto) -> bool:
    """Return whether a tensor is the centred one, or made by a second Sub with the same inputs."""
    again = scope.maker(name, "Sub")
    return again is not None and again.input[0] == centred.input[0] and _is_mean(
        scope, again.input[1], centred.input[0]
    )  # fmt: skip


def _is_mean(scope: Scope, name: str, source: str) -> bool:
    """Return whether a tensor is the mean of this one over the last axis, which it keeps."""
    mean = scope.maker(name, "ReduceMean")
    known = scope.types.get(source)
    if mean is None or mean.input[0] != source:
        return False
    axes = scope.integers(mean, "axes", 1)
    last = -1 if known is None or known.rank is None else known.rank - 1
    return integer_of(mean, "keepdims", 1) == 1 and axes in ([-1], [last])


def _vector(scope: Scope, node: onnx.NodeProto, op_type: str, width: int) -> str | None:
    """Return the constant of this width that the only reader of a node multiplies or adds."""
    reader = scope.only_reader(node.output[0], op_type)
    if reader is None:
        return None
    for name in reader.input:
        tensor = scope.constants.get(name)
        if tensor is not None and list(tensor.dims) == [width] and tensor.data_type == 1:
            return str(name)
    return None


def fold_batch_norms(model: onnx.ModelProto) -> int:
    """Fold each batch normalization into the only Conv before it, or the only one behind without pads."""
    new, count = Additions(model), 0
    for scope in scopes_of(model):
        for node in [node for node in scope.graph.node if is_standard(node, "BatchNormalization")]:
            known = _parameters(scope, node)
            if known is not None:
                count += _fold_backward(scope, node, *known, new) or _fold_forward(scope, node, *known, new)
    if count:
        remove_unread_nodes(model, "BatchNormalization")
    return count


def _parameters(scope: Scope, node: onnx.NodeProto) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the factor and the summand of each channel; None while training, or if they are computed."""
    arrays = [scope.array(name) for name in node.input[1:5]]
    if len(node.output) != 1 or integer_of(node, "training_mode", 0):
        return None
    if len(arrays) != 4 or any(array is None or array.ndim != 1 for array in arrays):
        return None  # with spatial=0, before opset 9, each element has parameters of its own
    scale, bias, mean, variance = (np.asarray(array, np.float64) for array in arrays)
    epsilon = attribute_of(node, "epsilon")
    factor = scale / np.sqrt(variance + (1e-5 if epsilon is None else epsilon.f))
    return factor, bias - mean * factor


def _fold_backward(
    scope: Scope, node: onnx.NodeProto, factor: np.ndarray, shift: np.ndarray, new: Additions
) -> bool:
    conv = scope.maker(node.input[0], "Conv")
    if conv is None or scope.only_reader(conv.output[0], "BatchNormalization") is not node:
        return False
    arrays = _conv_arrays(scope, conv)
    if arrays is None:
        return False
    weight, bias = arrays
    _set_conv(conv, weight * factor.reshape(-1, *[1] * (weight.ndim - 1)), bias * factor + shift, new)
    return _bypass(node, conv.output[0])


def _fold_forward(
    scope: Scope, node: onnx.NodeProto, factor: np.ndarray, shift: np.ndarray, new: Additions
) -> bool:
    conv = scope.only_reader(node.output[0], "Conv")
    arrays = None if conv is None else _conv_arrays(scope, conv)
    if conv is None or arrays is None or conv.input[0] != node.output[0]:
        return False
    pads, auto_pad = attribute_of(conv, "pads"), attribute_of(conv, "auto_pad")
    if (pads is not None and any(pads.ints)) or (
        auto_pad is not None and auto_pad.s not in (b"NOTSET", b"VALID")
    ):
        return False  # the border would be padded with zeros behind the normalization, not before it
    if integer_of(conv, "group", 1) != 1:
        return False
    weight, bias = arrays
    summed = weight.reshape(*weight.shape[:2], -1).sum(axis=2)
    wide = factor.reshape(1, -1, *[1] * (weight.ndim - 2))
    _set_conv(conv, weight * wide, bias + summed @ shift, new)
    return _bypass(node, node.input[0])


def _conv_arrays(scope: Scope, conv: onnx.NodeProto) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the weight and the bias of a convolution, zeros for none; None if they are computed."""
    weight = scope.array(conv.input[1])
    if weight is None or scope.constants[conv.input[1]].data_type != onnx.TensorProto.FLOAT:
        return None
    if len(conv.input) < 3 or not conv.input[2]:
        return weight.astype(np.float64), np.zeros(weight.shape[0])
    bias = scope.array(conv.input[2])
    return None if bias is None else (weight.astype(np.float64), bias.astype(np.float64))


def _set_conv(conv: onnx.NodeProto, weight: np.ndarray, bias: np.ndarray, new: Additions) -> None:
    stem = f"{conv.output[0]}_folded"
    del conv.input[1:]
    conv.input.append(new.constant(f"{stem}_weight", weight.astype(np.float32)))
    conv.input.append(new.constant(f"{stem}_bias", bias.astype(np.float32)))


def _bypass(node: onnx.NodeProto, source: str) -> bool:
    """Make an Identity of a node, which ORT leaves out; its output keeps its name."""
    node.op_type = "Identity"
    del node.input[:]
    node.input.append(source)
    del node.attribute[:]
    return True
