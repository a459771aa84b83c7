"""The declared types of a model's inputs and outputs, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from workbench.core.models.element_type import ElementType
from workbench.core.text import shorten

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto, ValueInfoProto

Dim: TypeAlias = int | str | None  # fixed, symbolic, or undeclared

_UNNAMED = ("", "?")  # as exporters call an axis without a name: each one has a size of its own

_ELEMENTS: dict[int, str] = {
    element: {"FLOAT": "float32", "DOUBLE": "float64"}.get(element.name, element.name.lower())
    for element in ElementType
}


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor; `dims` is None where even the rank is not declared."""

    element: int  # the number in TensorProto
    dims: tuple[Dim, ...] | None
    sparse: bool = False

    def __str__(self) -> str:
        shown = (
            "?" if self.dims is None else ",".join("?" if d is None else shorten(str(d)) for d in self.dims)
        )
        return f"{'sparse ' * self.sparse}{element_name(self.element)}[{shown}]"


@dataclass(frozen=True, slots=True)
class SequenceType:
    """A list of values of one type."""

    item: ValueType

    def __str__(self) -> str:
        return f"sequence({self.item})"


@dataclass(frozen=True, slots=True)
class OptionalType:
    """A value or nothing."""

    item: ValueType

    def __str__(self) -> str:
        return f"optional({self.item})"


@dataclass(frozen=True, slots=True)
class MapType:
    """A dictionary with keys of one type and values of another."""

    key: int
    value: ValueType

    def __str__(self) -> str:
        return f"map({element_name(self.key)}, {self.value})"


@dataclass(frozen=True, slots=True)
class UnknownType:
    """An undeclared type, or one unknown to ONNX."""

    what: str = "no type"

    def __str__(self) -> str:
        return self.what


ValueType: TypeAlias = TensorType | SequenceType | OptionalType | MapType | UnknownType


@dataclass(frozen=True, slots=True)
class Declared:
    """One input or output: its full name, which is untrusted, and its type."""

    name: str
    type: ValueType

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Return the dims of a tensor; nothing where the rank is not declared or it is no tensor."""
        return (self.type.dims or ()) if isinstance(self.type, TensorType) else ()

    def __str__(self) -> str:
        return f"{shorten(self.name)}: {self.type}"


def element_name(element: int) -> str:
    """Return the name of an element type: float32, int64, bfloat16, string…"""
    return _ELEMENTS.get(element, f"element type {element}")


def declared_inputs(model: ModelProto) -> tuple[Declared, ...]:
    """Return the inputs without a default, which must be fed. (Old models list weights as inputs too.)"""
    defaults = {tensor.name for tensor in model.graph.initializer}
    defaults |= {sparse.values.name for sparse in model.graph.sparse_initializer}
    return _declared(value for value in model.graph.input if value.name not in defaults)


def overridable_inputs(model: ModelProto) -> tuple[Declared, ...]:
    """Return the inputs with a default, which may be fed."""
    needed = {declared.name for declared in declared_inputs(model)}
    return _declared(value for value in model.graph.input if value.name not in needed)


def declared_outputs(model: ModelProto) -> tuple[Declared, ...]:
    """Return the outputs."""
    return _declared(model.graph.output)


def value_type(proto: TypeProto) -> ValueType:
    """Return a type as a plain value. Protobuf bounds the nesting to 100 levels."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            return _tensor(proto.tensor_type)
        case "sparse_tensor_type":
            return _tensor(proto.sparse_tensor_type, sparse=True)
        case "sequence_type":
            return SequenceType(value_type(proto.sequence_type.elem_type))
        case "optional_type":
            return OptionalType(value_type(proto.optional_type.elem_type))
        case "map_type":
            return MapType(proto.map_type.key_type, value_type(proto.map_type.value_type))
        case None:
            return UnknownType()
        case other:
            return UnknownType(f"a type of kind {other}")


def _declared(values: Iterable[ValueInfoProto]) -> tuple[Declared, ...]:
    return tuple(Declared(value.name, value_type(value.type)) for value in values)


def _tensor(proto: TypeProto.Tensor | TypeProto.SparseTensor, *, sparse: bool = False) -> TensorType:
    dims: tuple[Dim, ...] | None = None
    if proto.HasField("shape"):
        dims = tuple(_dim(dim) for dim in proto.shape.dim)
    return TensorType(proto.elem_type, dims, sparse)


def _dim(dim: object) -> Dim:
    match dim.WhichOneof("value"):  # type: ignore[attr-defined]
        case "dim_value":
            value = int(dim.dim_value)  # type: ignore[attr-defined]
            return value if value >= 0 else None  # older exporters write -1 for a free dim
        case "dim_param":
            name = dim.dim_param  # type: ignore[attr-defined]
            name = name if isinstance(name, str) else ascii(name)
            return None if name.strip() in _UNNAMED else name
    return None
