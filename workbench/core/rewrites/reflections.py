"""Reflecting pads written as slices and a concatenation, which compiled providers take."""

import numpy as np
import onnx
from onnx import helper

from workbench.core.rewrites.edits import Additions, replace_nodes
from workbench.core.rewrites.scopes import Scope, attribute_of, opset_of

LEAST_PAD_OPSET = 11  # since then, Pad takes its pads as an input, and Slice its steps


def spell_reflections_out(model: onnx.ModelProto) -> int:
    """Replace each Pad that reflects by constant pads; return how many. The outputs stay equal."""
    return 0 if opset_of(model) < LEAST_PAD_OPSET else replace_nodes(model, "Pad", _spelled_pad)


def _reflected(scope: Scope, node: onnx.NodeProto) -> dict[int, tuple[int, int]]:
    """Return the elements that a Pad reflects at begin and end of each axis; none where it must stay."""
    mode = attribute_of(node, "mode")
    if mode is None or mode.s != b"reflect":
        return {}
    pads = scope.integers(node, "pads", 1)
    axes = scope.integers(node, "axes", 3) if len(node.input) > 3 and node.input[3] else None
    if pads is None or min(pads, default=0) < 0 or (len(node.input) > 3 and node.input[3] and axes is None):
        return {}
    half = len(pads) // 2
    sizes = zip(axes or range(half), pads[:half], pads[half:], strict=True)
    return {axis: (begin, end) for axis, begin, end in sizes if begin or end}


def _spelled_pad(pad: onnx.NodeProto, scope: Scope, new: Additions) -> list[onnx.NodeProto]:
    """Return slices and a concatenation for each axis of a Pad; the last one keeps its output."""
    pads = _reflected(scope, pad)
    value, stem, made = pad.input[0], pad.output[0], list[onnx.NodeProto]()

    def reflected(source: str, start: int, stop: int, axis: int) -> str:
        """Add a slice that reads backwards."""
        result = new.name(f"{stem}_reflected")
        bounds = [new.constant(f"{stem}_{n}", np.array([n], np.int64)) for n in (start, stop, axis, -1)]
        made.append(helper.make_node("Slice", [source, *bounds], [result], result))
        return result

    for position, (axis, (begin, end)) in enumerate(pads.items()):
        parts = [reflected(value, begin, 0, axis)] if begin else []
        parts.append(value)
        parts += [reflected(value, -2, -2 - end, axis)] if end else []
        is_last = position == len(pads) - 1
        target = stem if is_last else new.name(f"{stem}_axis{axis}")
        made.append(helper.make_node("Concat", parts, [target], pad.name if is_last else target, axis=axis))
        value = target
    return made
