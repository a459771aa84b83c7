"""Arrays of NumPy with the few methods of torch that the workers and scripts of engines call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

__version__ = "0.0+fake"
float32, float16, int64, int32, int8, uint8 = (
    np.float32, np.float16, np.int64, np.int32, np.int8, np.uint8,
)  # fmt: skip
bfloat16 = np.float32
bool = np.bool_
events: list[str] = []  # what was called, in order
threads = 2


class Tensor:
    def __init__(self, array: Any, place: str = "cpu") -> None:
        self.array, self.place = array, place

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    def pin_memory(self) -> Tensor:
        return self

    def cuda(self) -> Tensor:
        return Tensor(self.array.copy(), "cuda")

    def to(self, device: str) -> Tensor:
        return Tensor(self.array, device)

    def data_ptr(self) -> int:
        assert self.place == "cuda", "an address of the host's memory was given to the GPU"
        return int(self.array.ctypes.data)

    def copy_(self, other: Tensor, non_blocking: bool = False) -> Tensor:
        events.append(f"copy to {self.place}" if non_blocking else "blocking copy")
        self.array[...] = other.array
        return self

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return Tensor(self.array)

    def numpy(self) -> Any:
        assert self.place == "cpu", "torch gives no array of the GPU's memory"
        return self.array


def from_numpy(array: Any) -> Tensor:
    return Tensor(array)


def empty(shape: tuple[int, ...], dtype: Any, device: str = "cpu") -> Tensor:
    return Tensor(np.zeros(shape, dtype), device)


def set_num_threads(count: int) -> None:
    global threads
    threads = count


def get_num_threads() -> int:
    return threads


@contextlib.contextmanager
def inference_mode() -> Iterator[None]:
    events.append("inference mode")
    yield


def compile(module: Any, mode: str) -> Any:
    events.append(f"compile {mode}")
    return module


class _Module:
    def eval(self) -> _Module:
        events.append("eval")
        return self

    def to(self, device: str) -> _Module:
        events.append(f"to {device}")
        return self

    def __call__(self, *values: Any) -> Any:
        return self.forward(*values)  # type: ignore[attr-defined]


class nn:
    Module = _Module


class _Stream:
    cuda_stream = 7

    def synchronize(self) -> None:
        events.append("synchronize the stream")


class cuda:
    Stream = _Stream

    @staticmethod
    def is_available() -> bool:
        return False

    @staticmethod
    def synchronize() -> None:
        events.append("synchronize")

    @staticmethod
    @contextlib.contextmanager
    def stream(_: _Stream) -> Iterator[None]:
        yield
