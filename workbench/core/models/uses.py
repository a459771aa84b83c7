"""The uses of an input's values, through the nodes that pass them on unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from workbench.core.models.graph_walk import WalkedNode
from workbench.core.models.scope import GraphScope, carried, integer

Role = Literal[
    "zero", "one", "positive", "count", "far", "axes", "shape", "reshape", "sizes", "true", "false", "length",
    "interval",
]  # fmt: skip

MOST_STEPS = 200_000  # of all inputs together: real models take some 30 for each
_FIRST = frozenset(  # operators whose output holds the values of their first input
    (
        *("Identity", "Cast", "CastLike", "Dropout", "Optional", "OptionalGetElement", "Trilu", "Pad"),
        *("Reshape", "Unsqueeze", "Squeeze", "Flatten", "Transpose", "Expand", "Tile", "ReverseSequence"),
        *("Slice", "Split", "Gather", "GatherElements", "GatherND", "Compress", "CenterCropPad"),
        *("SequenceAt", "SplitToSequence", "ConcatFromSequence", "DepthToSpace", "SpaceToDepth"),
    )
)
_ANY = frozenset({"Concat", "SequenceConstruct", "Max", "Min"})
_COMPARING = frozenset(("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"))
_LOGIC = frozenset(("Not", "And", "Or", "Xor"))
# reader → (table's input, axis attribute, default axis)
_INDEX: dict[tuple[str, int], tuple[int, str, int]] = {
    ("Gather", 1): (0, "axis", 0),
    ("GatherElements", 1): (0, "axis", 0),
    ("ScatterElements", 1): (0, "axis", 0),
    ("Scatter", 1): (0, "axis", 0),
    ("GatherBlockQuantized", 1): (0, "gather_axis", 0),
    ("ArrayFeatureExtractor", 1): (0, "", -1),
    ("EmbedLayerNormalization", 0): (2, "", 0),
    ("EmbedLayerNormalization", 1): (4, "", 0),
    ("EmbedLayerNormalization", 7): (3, "", 0),
    ("SoftmaxCrossEntropyLoss", 1): (0, "", 1),
    ("NegativeLogLikelihoodLoss", 1): (0, "", 1),
}
_EVERY_AXIS = {("GatherND", 1), ("ScatterND", 1), ("TensorScatter", 2)}
_PARAMETERS: dict[Role, tuple[tuple[str, int], ...]] = {  # role → operators, and which of their inputs
    "reshape": (("Reshape", 1),),
    "shape": (
        ("Expand", 1), ("ConstantOfShape", 0), ("AffineGrid", 1), ("Split", 1), ("Squeeze", 1),
    ),
    "sizes": (("Resize", 3),),
    "one": (
        ("Resize", 2), ("Upsample", 1), ("Tile", 1), ("TopK", 1), ("BitShift", 1), ("DFT", 2),
        ("Attention", 6), ("Range", 2), ("Slice", 4), ("SplitToSequence", 1),
    ),
    "zero": (
        ("Range", 0), ("Slice", 1), ("Pad", 1), ("CumSum", 1), ("Trilu", 1), ("SequenceAt", 1),
        ("SequenceInsert", 2), ("SequenceErase", 1), ("QuantizeLinear", 2), ("DequantizeLinear", 2),
    ),
    "count": (
        ("Range", 1), ("OneHot", 1), ("HannWindow", 0), ("HammingWindow", 0), ("BlackmanWindow", 0),
        ("NonMaxSuppression", 2), ("Loop", 0),
    ),
    "far": (("Slice", 2),),
    "axes": (("Slice", 3), ("Pad", 3), ("Unsqueeze", 1)),
    "interval": (
        ("NonMaxSuppression", 3), ("NonMaxSuppression", 4), ("Dropout", 1), ("Bernoulli", 0),
    ),
    "false": (("Dropout", 2),),
    "true": (("Loop", 1),),
    "positive": (
        ("Div", 1), ("Mod", 1), ("BatchNormalization", 4), ("QuantizeLinear", 1), ("DequantizeLinear", 1),
        ("Log", 0), ("Sqrt", 0),
    ),
    "length": (("LSTM", 4), ("GRU", 4), ("RNN", 4), ("ReverseSequence", 1)),
}  # fmt: skip
_ROLES = {reader: role for role, readers in _PARAMETERS.items() for reader in readers}


@dataclass(frozen=True, slots=True)
class Uses:
    """The smallest extent that the values index (None: no index), its table, and other roles."""

    bound: int | None
    table: str | None  # the table's name; None with a bound: an index into a value of unknown extent
    roles: tuple[tuple[Role, tuple[int, ...] | None], ...]  # with the dims that the role depends on, if known
    compared: tuple[float, ...] = ()  # the constants that the values are compared with
    branches: tuple[str, ...] = ()  # the If nodes whose branch the values choose
    of_bytes: bool = False  # the first reader expects 0 to 255


def uses(scope: GraphScope, name: str) -> Uses:
    """Return the uses of one input of the main graph."""
    bound: int | None = None
    table: str | None = None
    roles: list[tuple[Role, tuple[int, ...] | None]] = []
    tables: dict[int, Any] = {}  # constants that the values are compared with
    of_bytes = False
    branches: dict[str, None] = {}
    steps = iter(range(MOST_STEPS // max(1, scope.input_count)))
    for where, node, position in _readers(scope, name, steps):
        extent = _extent(where, node, position)
        if extent is not None and (bound is None or extent[0] < bound):
            bound, table = extent
        role = _ROLES.get((node.op_type, position))
        if role is None and node.op_type.startswith("Reduce") and position == 1:
            role = "axes"
        if role is not None:
            roles.append((role, _role_dims(where, node, role)))
        if node.op_type in _COMPARING and len(node.inputs) == 2:
            constant = where.constant(node.inputs[1 - position])
            tables |= {} if constant is None else {id(constant): constant.reshape(-1)}
        branches |= dict.fromkeys(_branches(where, node, steps))
        of_bytes |= _takes_bytes(where, node, position)
    compared = tuple(value for constant in tables.values() for value in constant.tolist())
    return Uses(bound, table, tuple(roles), compared, tuple(branches), of_bytes)


def _takes_bytes(where: GraphScope, node: WalkedNode, position: int) -> bool:
    """Return whether the reader brings values of 0 to 255 to a smaller range."""
    if position != 0 or len(node.inputs) != 2:
        return False
    constant = where.constant(node.inputs[1])
    if constant is None or not constant.size:
        return False
    largest = float(abs(constant).max())
    return (
        (node.op_type == "Div" and 50 <= largest <= 256)
        or (node.op_type == "Sub" and 50 <= largest <= 255)
        or (node.op_type == "Mul" and 0 < largest <= 1 / 50)
    )


def _branches(where: GraphScope, node: WalkedNode, steps: Iterator[int]) -> Iterator[str]:
    """Yield the names of the If nodes that the reader decides, itself or through logic on its outcome."""
    if node.op_type == "If":
        yield node.proto.name or "If"
    if node.op_type in _COMPARING and node.outputs:
        for _, reader, _ in _readers(where, node.outputs[0], steps):
            if reader.op_type == "If":
                yield reader.proto.name or "If"


def _readers(
    scope: GraphScope, name: str, steps: Iterator[int]
) -> Iterator[tuple[GraphScope, WalkedNode, int]]:
    """Yield every reader of the values, in any scope, until no step is left."""
    waiting = [(scope, name)]
    visited = {(id(scope), name)}
    while waiting:
        where, value = waiting.pop()
        for (node, position), _ in zip(where.readers(value), steps, strict=False):
            yield where, node, position
            for (inside, passed), _ in zip(_passed_on(where, node, position), steps, strict=False):
                if (id(inside), passed) not in visited:
                    visited.add((id(inside), passed))
                    waiting.append((inside, passed))


def _passed_on(where: GraphScope, node: WalkedNode, position: int) -> Iterator[tuple[GraphScope, str]]:
    inside = where.call(node)
    if inside is not None:
        yield from ((inside, name) for name in inside.parameter(position))
        return
    yield from ((where, name) for name in carried(node, position))
    whole = node.op_type in _ANY or node.op_type in _LOGIC or (node.op_type in _FIRST and position == 0)
    if whole or (node.op_type == "Where" and position > 0):
        yield from ((where, name) for name in node.outputs if name)


def _extent(where: GraphScope, node: WalkedNode, position: int) -> tuple[int, str | None] | None:
    """Return the rows and the name of the table that the reader indexes with the value, or None."""
    key = (node.op_type, position)
    if key in _EVERY_AXIS:
        dims = where.shape(node.inputs[0])
        first = integer(node.proto, "batch_dims", 0)
        return (min(dims[first:], default=1), node.proto.input[0]) if dims else (1, None)
    if key not in _INDEX:
        return None
    source, attribute, axis = _INDEX[key]
    dims = where.shape(node.inputs[source]) if source < len(node.inputs) else None
    axis = integer(node.proto, attribute, axis) if attribute else axis
    if dims is None or not -len(dims) <= axis < len(dims):
        return 1, None
    return max(dims[axis], 0), node.proto.input[source]


def _role_dims(where: GraphScope, node: WalkedNode, role: Role) -> tuple[int, ...] | None:
    if (node.op_type, role) == ("Squeeze", "shape"):
        dims = where.shape(node.inputs[0])
        return None if dims is None else tuple(axis for axis, size in enumerate(dims) if size == 1)
    if (node.op_type, role) == ("Split", "shape"):
        return _parts(where, node)
    if role in ("shape", "reshape") and node.outputs:
        return where.shape(node.outputs[0])
    if role in ("sizes", "length"):
        return where.shape(node.inputs[0])
    return None


def _parts(where: GraphScope, node: WalkedNode) -> tuple[int, ...] | None:
    """Return the declared sizes of a Split's outputs along its axis."""
    axis = integer(node.proto, "axis", 0)
    shapes = [where.shape(name) for name in node.outputs]
    if not all(shape is not None and -len(shape) <= axis < len(shape) for shape in shapes):
        return None
    return tuple(shape[axis] for shape in shapes if shape is not None)
