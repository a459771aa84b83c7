"""TensorRT's Python package as far as the engine calls it: it builds nothing and runs ONNX's own evaluator.

Calls in a wrong order fail as they would there: shapes before addresses, addresses before a run.
"""

from __future__ import annotations

import ctypes
import math
from enum import Enum
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

__version__ = "10.0+fake"
built: list[dict[str, Any]] = []  # what each engine was built with
refuse_to_run = False
refuse_to_build = False


class DataType(Enum):
    FLOAT = np.float32
    HALF = np.float16
    INT64 = np.int64
    INT32 = np.int32
    BOOL = np.bool_
    INT8 = np.int8
    UINT8 = np.uint8


class BuilderFlag(Enum):
    FP16 = 1
    TF32 = 2


class MemoryPoolType(Enum):
    WORKSPACE = 1


class Logger:
    WARNING = 2

    def __init__(self, severity: int) -> None:
        self.severity = severity


class _Tensor:
    def __init__(self, name: str) -> None:
        self.name = name


class _Network:
    model: onnx.ModelProto

    @property
    def num_inputs(self) -> int:
        return len(self.model.graph.input)

    def get_input(self, place: int) -> _Tensor:
        return _Tensor(self.model.graph.input[place].name)


class OnnxParser:
    num_errors = 1

    def __init__(self, network: _Network, _: Logger) -> None:
        self.network = network

    def parse_from_file(self, path: str) -> bool:
        self.network.model = onnx.load(path)
        return all(node.op_type != "Unknown" for node in self.network.model.graph.node)

    def get_error(self, place: int) -> str:
        return f"no importer for the operator of node {place}"


class _Settings:
    def __init__(self) -> None:
        self.flags = {BuilderFlag.TF32}  # TensorRT's default
        self.pools: dict[str, int] = {}
        self.profiles: list[_Profile] = []

    def set_flag(self, flag: BuilderFlag) -> None:
        self.flags.add(flag)

    def clear_flag(self, flag: BuilderFlag) -> None:
        self.flags.discard(flag)

    def set_memory_pool_limit(self, pool: MemoryPoolType, size: int) -> None:
        self.pools[pool.name] = size

    def add_optimization_profile(self, profile: _Profile) -> int:
        self.profiles.append(profile)
        return 0


class _Profile:
    def __init__(self) -> None:
        self.shapes: dict[str, tuple[Any, Any, Any]] = {}

    def set_shape(self, name: str, least: Any, best: Any, most: Any) -> None:
        self.shapes[name] = (tuple(least), tuple(best), tuple(most))


class Builder:
    def __init__(self, log: Logger) -> None:
        self.log = log

    def create_network(self, flags: int) -> _Network:
        assert flags == 0, "explicit batch is the only kind since TensorRT 10"
        return _Network()

    def create_builder_config(self) -> _Settings:
        return _Settings()

    def create_optimization_profile(self) -> _Profile:
        return _Profile()

    def build_serialized_network(self, network: _Network, settings: _Settings) -> Any:
        if refuse_to_build:
            return None
        (profile,) = settings.profiles
        assert set(profile.shapes) == {value.name for value in network.model.graph.input}
        flags = sorted(flag.name for flag in settings.flags)
        built.append({"flags": flags, "pools": settings.pools, "shapes": profile.shapes})
        return network.model.SerializeToString()


class Runtime:
    def __init__(self, log: Logger) -> None:
        self.log = log

    def deserialize_cuda_engine(self, data: bytes) -> _Engine:
        return _Engine(onnx.load_from_string(data))


class _Engine:
    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.values = [*model.graph.input, *model.graph.output]
        self.num_io_tensors = len(self.values)

    def create_execution_context(self) -> _Context:
        return _Context(self)

    def get_tensor_name(self, place: int) -> str:
        return str(self.values[place].name)

    def get_tensor_dtype(self, name: str) -> DataType:
        value = next(value for value in self.values if value.name == name)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        return DataType(dtype.type)


class _Context:
    def __init__(self, engine: _Engine) -> None:
        self.engine = engine
        self._evaluator = ReferenceEvaluator(engine.model)
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._addresses: dict[str, int] = {}

    def set_input_shape(self, name: str, shape: tuple[int, ...]) -> bool:
        self._shapes[name] = shape
        return True

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        if name in self._shapes:
            return self._shapes[name]
        feeds = {
            value.name: np.zeros(self._shapes[value.name], self._dtype(value.name)) for value in self._inputs
        }
        outputs = self._evaluator.run([name], feeds)
        return tuple(outputs[0].shape)

    def set_tensor_address(self, name: str, address: int) -> bool:
        self._addresses[name] = address
        return True

    def execute_async_v3(self, stream: int) -> bool:
        assert stream == 7, "the run is on another stream than the copies"
        if refuse_to_run:
            return False
        feeds = {value.name: self._array(value.name) for value in self._inputs}
        names = [value.name for value in self.engine.model.graph.output]
        for name, value in zip(names, self._evaluator.run(names, feeds), strict=True):
            self._array(name)[...] = value
        return True

    @property
    def _inputs(self) -> Any:
        return self.engine.model.graph.input

    def _dtype(self, name: str) -> Any:
        return self.engine.get_tensor_dtype(name).value

    def _array(self, name: str) -> Any:
        """Return the memory at an address as an array."""
        dtype, shape = np.dtype(self._dtype(name)), self.get_tensor_shape(name)
        memory = (ctypes.c_char * (math.prod(shape) * dtype.itemsize)).from_address(self._addresses[name])
        return np.frombuffer(memory, dtype).reshape(shape)
