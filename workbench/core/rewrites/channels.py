"""Channels of convolutions padded with zeros to a multiple of 4, for the blocked layout."""

import numpy as np
import onnx

from workbench.core.rewrites.edits import Additions, remove_named
from workbench.core.rewrites.scopes import Scope, integer_of, is_standard, scopes_of
from workbench.core.rewrites.weights import remove_unused_weights

CHANNEL_MULTIPLE = 4  # ORT's condition for input channels
LEAST_CHANNELS = 8  # fewer are read in the plain layout anyway
CHANNEL_WISE = (  # keep channels apart, and make finite numbers of zeros
    *("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "Elu", "Selu", "HardSigmoid", "HardSwish", "Gelu"),
    *("Softplus", "Softsign", "Identity", "MaxPool", "AveragePool", "BatchNormalization"),
)
SUMS = ("Add", "Sub", "Mul", "Max", "Min", "Sum")


def pad_channels(model: onnx.ModelProto) -> int:
    """Pad channels between convolutions whose count is no multiple of 4; return how many tensors.

    New channels of a convolution have weights of 0, and its readers multiply them by 0.
    """
    new, count = Additions(model), 0
    main = scopes_of(model)[0]
    for tensors in _groups(main):
        channels = _channels_of(main, tensors)
        missing = 0 if channels is None else -channels % CHANNEL_MULTIPLE
        if channels is None or not missing or channels < LEAST_CHANNELS or not _can_grow(main, tensors):
            continue
        touched = {id(node): node for name in sorted(tensors) for node in _around(main, name)}
        for node in touched.values():
            _grow(main, node, tensors, missing, new)
        remove_named(model.graph.value_info, tensors)  # a declared type has the old number of channels
        main = scopes_of(model)[0]  # with the new weights
        count += len(tensors)
    if count:
        remove_unused_weights(model)
    return count


def _groups(main: Scope) -> list[set[str]]:
    """Return the sets of tensors that have their channels in common."""
    group_of: dict[str, set[str]] = {}

    def join(names: list[str]) -> None:
        merged = set[str]().union(*(group_of.get(name, {name}) for name in names))
        for name in merged:
            group_of[name] = merged

    for node in main.graph.node:
        if is_standard(node, *CHANNEL_WISE):
            join([node.input[0], node.output[0]])
        elif is_standard(node, *SUMS):
            join([*node.input, node.output[0]])
        elif is_standard(node, "Conv"):
            join([node.output[0]])
    return list({id(group): group for group in group_of.values()}.values())


def _around(main: Scope, name: str) -> list[onnx.NodeProto]:
    maker = main.makers.get(name)
    return [*([maker] if maker is not None else []), *main.readers.get(name, [])]


def _channels_of(main: Scope, tensors: set[str]) -> int | None:
    """Return the number of channels, if it is known and the same for all."""
    counts = set()
    for name in tensors:
        known = main.types.get(name)
        if known is None or known.rank != 4 or known.dims is None:
            return None
        counts.add(known.dims[1])
    (count,) = counts if len(counts) == 1 else (None,)
    return count if isinstance(count, int) else None


def _can_grow(main: Scope, tensors: set[str]) -> bool:
    """Return whether only convolutions with constant weights make and read these tensors."""
    for name in tensors:
        if name in main.bound or name not in main.makers:
            return False
        for node in _around(main, name):
            if is_standard(node, "Conv"):
                if not _is_plain(main, node) or name in node.input[1:]:
                    return False
            elif is_standard(node, "BatchNormalization"):
                if len(node.output) != 1 or any(main.array(part) is None for part in node.input[1:5]):
                    return False
            elif is_standard(node, *CHANNEL_WISE):
                if name in node.input[1:] or len(node.output) != 1:
                    return False
            elif not is_standard(node, *SUMS) or not {*node.input} <= tensors:
                return False
    return True


def _is_plain(main: Scope, conv: onnx.NodeProto) -> bool:
    """Return whether a convolution has one group, and constant float32 weights."""
    parts = [name for name in conv.input[1:] if name]
    return integer_of(conv, "group", 1) == 1 and all(
        main.array(name) is not None and main.constants[name].data_type == onnx.TensorProto.FLOAT
        for name in parts
    )


def _grow(main: Scope, node: onnx.NodeProto, tensors: set[str], missing: int, new: Additions) -> None:
    """Pad the parameters of a node that makes or reads the group."""
    if is_standard(node, "BatchNormalization"):
        for place, value in ((1, 0.0), (2, 0.0), (3, 0.0), (4, 1.0)):
            _pad_input(main, node, place, [(0, missing)], new, value)
    elif is_standard(node, "Conv"):
        weight = main.array(node.input[1])
        assert weight is not None
        made = missing if node.output[0] in tensors else 0
        read = missing if node.input[0] in tensors else 0
        _pad_input(main, node, 1, [(0, made), (0, read), *[(0, 0)] * (weight.ndim - 2)], new)
        if made and len(node.input) > 2 and node.input[2]:
            _pad_input(main, node, 2, [(0, made)], new)


def _pad_input(
    main: Scope, node: onnx.NodeProto, place: int, pads: list[tuple[int, int]], new: Additions,
    value: float = 0.0,
) -> None:  # fmt: skip
    array = main.array(node.input[place])
    assert array is not None
    padded = np.pad(array, pads, constant_values=value)
    node.input[place] = new.constant(f"{node.input[place]}_padded", padded.astype(array.dtype))
