"""How a timed run calls ORT: `session.run`, or IO binding with buffers made beforehand."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnxruntime as ort


class _Exotic(NamedTuple):
    """An element type that numpy lacks: ml_dtypes has it, ORT takes it as an OrtValue only."""

    dtype: str  # its name in ml_dtypes
    number: int  # in TensorProto
    bits: int  # ORT packs those below 8, the first element lowest; ml_dtypes gives each a byte


_EXOTIC = {  # by ORT's name
    "bfloat16": _Exotic("bfloat16", 16, 16),
    "float8e4m3fn": _Exotic("float8_e4m3fn", 17, 8),
    "float8e4m3fnuz": _Exotic("float8_e4m3fnuz", 18, 8),
    "float8e5m2": _Exotic("float8_e5m2", 19, 8),
    "float8e5m2fnuz": _Exotic("float8_e5m2fnuz", 20, 8),
    "uint4": _Exotic("uint4", 21, 4),
    "int4": _Exotic("int4", 22, 4),
    "float4e2m1": _Exotic("float4_e2m1fn", 23, 4),
    "float8e8m0": _Exotic("float8_e8m0fnu", 24, 8),
    "uint2": _Exotic("uint2", 25, 2),
    "int2": _Exotic("int2", 26, 2),
}
_BY_DTYPE = {exotic.dtype: exotic for exotic in _EXOTIC.values()}
_ELEMENT = re.compile(r"tensor\((\w+)\)")  # also inside seq(…) and optional(…)


class Call:
    """One feed, ready to be run again and again."""

    def __init__(self, run: Callable[[], object], outputs: Callable[[], Sequence[Any]]) -> None:
        self.run = run
        self.outputs = outputs

    def keep_outputs(self) -> None:
        """Nothing to keep: ORT makes new outputs each run."""


def needs_binding(session: ort.InferenceSession, feeds: list[dict[str, Any]]) -> bool:
    """Whether `session.run` cannot carry an element type of this model's inputs or outputs."""
    fed = (value for feed in feeds for value in feed.values())
    return any(_is_exotic(value) for value in fed) or any(
        name in _EXOTIC for output in session.get_outputs() for name in _ELEMENT.findall(output.type)
    )


def plain_calls(
    session: ort.InferenceSession, feeds: list[dict[str, Any]], options: ort.RunOptions | None
) -> list[Call]:
    def call(feed: dict[str, Any]) -> Call:
        def run() -> Any:
            return session.run(None, feed, options)

        return Call(run, run)

    return [call(feed) for feed in feeds]


class BoundCall(Call):
    """Inputs bound once; outputs too, once their shapes are known from a first run."""

    def __init__(
        self, session: ort.InferenceSession, feed: dict[str, Any], options: ort.RunOptions | None
    ) -> None:
        self._binding = binding = session.io_binding()
        self._device = _device(session)
        for name, value in feed.items():
            binding.bind_ortvalue_input(name, _to_ortvalue(value, self._device))
        self._names = [output.name for output in session.get_outputs()]
        self._release_outputs()

        def run() -> None:
            session.run_with_iobinding(binding, options)

        super().__init__(run, self._run_and_read)

    def keep_outputs(self) -> None:
        """Bind the tensors that a run gave, so that no later run allocates.

        Some operators cannot fill a buffer of the final shape (a Loop that starts from nothing): they get
        new outputs for every run, since ORT would use those of the run before in any case.
        """
        self._release_outputs()
        self.run()
        values = self._binding.get_outputs()
        if all(value.is_tensor() for value in values):
            for name, value in zip(self._names, values, strict=True):
                self._binding.bind_ortvalue_output(name, value)
        try:
            self.run()
        except Exception as error:  # noqa: BLE001 - ORT raises plain RuntimeError and classes of its own
            print(f"new outputs for every run: {error}", file=sys.stderr)
            self.run = self._fresh(self.run)
            self.run()

    def _fresh(self, run: Callable[[], object]) -> Callable[[], object]:
        def run_afresh() -> None:
            self._release_outputs()
            run()

        return run_afresh

    def _release_outputs(self) -> None:
        self._binding.clear_binding_outputs()
        for name in self._names:
            self._binding.bind_output(name, self._device)

    def _run_and_read(self) -> list[Any]:
        self.run()
        return [_from_ortvalue(value) for value in self._binding.get_outputs()]


def bound_calls(
    session: ort.InferenceSession, feeds: list[dict[str, Any]], options: ort.RunOptions | None
) -> list[Call]:
    return [BoundCall(session, feed, options) for feed in feeds]


def to_portable(value: Any) -> Any:
    """An output as something that `values` can write; what it cannot becomes a text that says so."""
    if value is None or isinstance(value, (np.ndarray, list, dict, str, int, float)):
        return value
    if isinstance(value, np.generic):
        return np.asarray(value)
    return f"({type(value).__name__}: not comparable)"


def _is_exotic(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in _BY_DTYPE


def _device(session: ort.InferenceSession) -> str:
    return (
        "cuda"
        if {"CUDAExecutionProvider", "TensorrtExecutionProvider"} & set(session.get_providers())
        else "cpu"
    )


def _to_ortvalue(value: Any, device: str) -> ort.OrtValue:
    if _is_exotic(value):
        exotic = _BY_DTYPE[value.dtype.name]
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(packed(value, exotic.bits), exotic.number)
    if isinstance(value, np.ndarray):
        on = "cpu" if value.dtype.kind in "OUS" else device
        return ort.OrtValue.ortvalue_from_numpy(value, on)
    raise TypeError("IO binding takes tensors only: this input is a sequence, an optional or a map")


def _from_ortvalue(value: ort.OrtValue) -> Any:
    if not value.is_tensor():
        return f"({value.data_type()}: not readable from a bound output)"
    found = _ELEMENT.match(value.data_type())
    exotic = _EXOTIC.get(found[1]) if found else None
    if exotic is None:
        return value.numpy()
    import ml_dtypes

    count = int(np.prod(value.shape(), dtype=np.int64))
    raw = ctypes.string_at(value.data_ptr(), -(-count * exotic.bits // 8))
    return unpacked(raw, value.shape(), np.dtype(getattr(ml_dtypes, exotic.dtype)), exotic.bits)


def packed(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """The elements as ORT keeps them, in an array of the same shape, from which ORT reads the dims.

    Narrow elements fill only its beginning.
    """
    if bits >= 8:
        return array.view(np.uint16 if bits == 16 else np.uint8)
    whole = np.zeros(array.shape, np.uint8)
    line, values = whole.reshape(-1), np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    per_byte = 8 // bits
    for place in range(per_byte):
        part = (values[place::per_byte] & ((1 << bits) - 1)) << (place * bits)
        line[: part.size] |= part
    return whole


def unpacked(raw: bytes, shape: Sequence[int], dtype: np.dtype[Any], bits: int) -> np.ndarray[Any, Any]:
    """The reverse: one element of `dtype` for every `bits` bits."""
    line = np.frombuffer(bytearray(raw), np.uint8)
    if bits < 8:
        shifts = np.arange(0, 8, bits, dtype=np.uint8)
        line = ((line[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)[
            : int(np.prod(shape, dtype=np.int64))
        ]
    return line.view(dtype).reshape(shape)
