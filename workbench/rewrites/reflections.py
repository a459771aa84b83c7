"""Reflecting pads written as slices and a concatenation, which compiled providers take."""

import onnx
from onnx import helper

from workbench.rewrites.scopes import names_in, new_name, opset_of
from workbench.rewrites.wiring import Wiring, attribute_of, wirings_of

LEAST_PAD_OPSET = 11  # since then, Pad takes its pads as an input, and Slice its steps


def spell_reflections_out(model: onnx.ModelProto) -> int:
    """Replace each Pad that reflects by constant pads; return how many. The outputs stay equal."""
    if opset_of(model) < LEAST_PAD_OPSET:
        return 0
    taken, count = names_in(model), 0
    for wiring in wirings_of(model):
        for place in reversed(range(len(wiring.graph.node))):
            pads = _reflected(wiring, wiring.graph.node[place])
            if pads:
                _spell_out(model, wiring.graph, place, pads, taken)
                count += 1
    return count


def _reflected(wiring: Wiring, node: onnx.NodeProto) -> dict[int, tuple[int, int]]:
    """Return the elements that a Pad reflects at begin and end of each axis; none where it must stay."""
    mode = attribute_of(node, "mode")
    if node.op_type != "Pad" or node.domain not in ("", "ai.onnx") or mode is None or mode.s != b"reflect":
        return {}
    pads = wiring.integers(node, "pads", 1)
    axes = wiring.integers(node, "axes", 3) if len(node.input) > 3 and node.input[3] else None
    if pads is None or min(pads, default=0) < 0 or (len(node.input) > 3 and node.input[3] and axes is None):
        return {}
    half = len(pads) // 2
    sizes = zip(axes or range(half), pads[:half], pads[half:], strict=True)
    return {axis: (begin, end) for axis, begin, end in sizes if begin or end}


def _spell_out(
    model: onnx.ModelProto,
    graph: onnx.GraphProto,
    place: int,
    pads: dict[int, tuple[int, int]],
    taken: set[str],
) -> None:
    """Put slices and a concatenation of each axis in the place of a Pad; the last one keeps its output."""
    pad = graph.node[place]
    value, stem, made = pad.input[0], pad.output[0], list[onnx.NodeProto]()

    def constant(number: int) -> str:
        name = new_name(f"{stem}_{number}", taken)
        model.graph.initializer.append(helper.make_tensor(name, onnx.TensorProto.INT64, [1], [number]))
        return name

    def reflected(source: str, start: int, stop: int, axis: int) -> str:
        """Add a slice that reads backwards."""
        result = new_name(f"{stem}_reflected", taken)
        bounds = [constant(number) for number in (start, stop, axis, -1)]
        made.append(helper.make_node("Slice", [source, *bounds], [result], result))
        return result

    for position, (axis, (begin, end)) in enumerate(pads.items()):
        parts = [reflected(value, begin, 0, axis)] if begin else []
        parts.append(value)
        parts += [reflected(value, -2, -2 - end, axis)] if end else []
        is_last = position == len(pads) - 1
        target = stem if is_last else new_name(f"{stem}_axis{axis}", taken)
        made.append(helper.make_node("Concat", parts, [target], pad.name if is_last else target, axis=axis))
        value = target
    del graph.node[place]
    for node in reversed(made):
        graph.node.insert(place, node)
