"""The inputs and outputs of a model in the words of the Open Inference Protocol."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.errors import DeployError
from workbench.core.models.declared import Declared, TensorType, declared_inputs, declared_outputs
from workbench.core.models.element_type import ElementType
from workbench.core.models.model import Model
from workbench.core.text import shorten

BYTES = "BYTES"  # texts
_OTHER_NAMES = {"FLOAT16": "FP16", "FLOAT": "FP32", "DOUBLE": "FP64", "STRING": BYTES}
_SAME_NAMES = ("BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64")
DATATYPES: dict[int, str] = {  # of the protocol, by the number in TensorProto
    ElementType[name]: _OTHER_NAMES.get(name, name) for name in (*_OTHER_NAMES, *_SAME_NAMES)
}


@dataclass(frozen=True, slots=True)
class IoTensor:
    """An input or output of the model; -1 is a free dimension."""

    name: str
    datatype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """The inputs and outputs of a model; `batchable`: the first dimension of all is the same free one."""

    inputs: tuple[IoTensor, ...]
    outputs: tuple[IoTensor, ...]
    batchable: bool


def contract_of(model: Model) -> Contract:
    """Return what a client sends and gets; raise a DeployError for a value that the protocol cannot carry."""
    inputs, outputs = declared_inputs(model.structure), declared_outputs(model.structure)
    if not inputs:
        raise DeployError(f"{shorten(model.name)} has no input", "deploy a model that takes one")
    return Contract(
        tuple(_tensor(value, "input", model.name) for value in inputs),
        tuple(_tensor(value, "output", model.name) for value in outputs),
        _batchable([*inputs, *outputs]),
    )


def _tensor(value: Declared, side: str, model: str) -> IoTensor:
    declared = value.type
    datatype = DATATYPES.get(declared.element) if isinstance(declared, TensorType) else None
    if not isinstance(declared, TensorType) or declared.sparse or datatype is None:
        raise DeployError(
            f"{side} {value} of {shorten(model)} cannot travel in the Open Inference Protocol",
            "give the model inputs and outputs that are tensors of numbers, booleans or texts",
        )
    if declared.dims is None:
        raise DeployError(
            f"{side} {shorten(value.name)} of {shorten(model)} has no declared rank",
            "export the model with the shapes of its inputs and outputs",
        )
    return IoTensor(value.name, datatype, tuple(dim if isinstance(dim, int) else -1 for dim in declared.dims))


def _batchable(values: list[Declared]) -> bool:
    first = {
        value.type.dims[0] if isinstance(value.type, TensorType) and value.type.dims else 0
        for value in values
    }
    return len(first) == 1 and isinstance(next(iter(first)), str)
