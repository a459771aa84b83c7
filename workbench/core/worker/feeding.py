"""Calls of a session: `session.run`, or IO binding with buffers allocated beforehand."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import onnxruntime as ort

from workbench.core.worker.host import Call
from workbench.core.worker.values import NOT_COMPARABLE, Feed

# Types that numpy lacks, which ORT takes as an OrtValue only: ORT's name, that of ml_dtypes, ONNX's number.
EXOTIC = {
    "bfloat16": ("bfloat16", 16),
    "float8e4m3fn": ("float8_e4m3fn", 17),
    "float8e4m3fnuz": ("float8_e4m3fnuz", 18),
    "float8e5m2": ("float8_e5m2", 19),
    "float8e5m2fnuz": ("float8_e5m2fnuz", 20),
}
NUMBERS = dict(EXOTIC.values())
UNREADABLE = frozenset({"uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2"})
ELEMENT = re.compile(r"tensor\((\w+)\)")  # also inside seq(…) and optional(…)
_NO_BUFFER = "IO binding takes tensors of numbers only, no strings, sequences, optionals or maps"


def make_calls(
    session: ort.InferenceSession, feeds: Sequence[Feed], options: ort.RunOptions | None, *, bind: bool
) -> list[Call]:
    """Return a call of each feed, bound on request or where `session.run` lacks an element type."""
    if bind or _needs_binding(session, feeds):
        return [BoundCall(session, feed, options) for feed in feeds]
    return [Call(partial(session.run, None, feed, options), _portable) for feed in feeds]


def _needs_binding(session: ort.InferenceSession, feeds: Sequence[Feed]) -> bool:
    fed = (value for feed in feeds for value in feed.values())
    return any(_is_exotic(value) for value in fed) or any(
        name in EXOTIC or name in UNREADABLE
        for output in session.get_outputs()
        for name in ELEMENT.findall(output.type)
    )


class BoundCall(Call):
    """A run with inputs bound once, and with outputs bound after a first run showed their shapes."""

    IO = "binding"

    def __init__(self, session: ort.InferenceSession, feed: Feed, options: ort.RunOptions | None) -> None:
        self._session, self._feed = session, feed
        self._binding = binding = session.io_binding()
        self._device = device_of(session)
        for name, value in feed.items():
            binding.bind_ortvalue_input(name, _to_ortvalue(value, self._device))
        self._places = {output.name: _place(output.type, self._device) for output in session.get_outputs()}
        self._release_outputs()
        super().__init__(partial(session.run_with_iobinding, binding, options), _portable)

    def keep_outputs(self) -> None:
        """Bind the outputs of a run, so that no later run allocates.

        Some operators cannot fill a buffer of the final shape (a Loop that starts empty): their outputs are
        new for every run, since ORT would otherwise reuse the outputs of the previous run.
        """
        self._release_outputs()
        self.run()
        values = self._binding.get_outputs()
        if all(value.is_tensor() for value in values):
            for name, value in zip(self._places, values, strict=True):
                self._binding.bind_ortvalue_output(name, value)
        try:
            self.run()
        except Exception as error:  # noqa: BLE001 - ORT raises plain RuntimeError and classes of its own
            print(f"new outputs for every run: {error}", file=sys.stderr)
            bound, release = self.run, self._release_outputs

            def run_afresh() -> None:
                release()
                bound()

            self.run = run_afresh
            self.run()

    def _release_outputs(self) -> None:
        self._binding.clear_binding_outputs()
        for name, device in self._places.items():
            self._binding.bind_output(name, device)

    def outputs(self) -> Sequence[Any]:
        """Return the outputs from the bound buffers."""
        self.run()
        values = self._binding.get_outputs()
        if not (all(value.is_tensor() for value in values) or any(map(_is_exotic, self._feed.values()))):
            return _portable(self._session.run(None, self._feed))  # a bound sequence cannot be read
        return _portable([_from_ortvalue(value) for value in values])


def _portable(outputs: Sequence[Any]) -> list[Any]:
    return [_to_portable(value) for value in outputs]


def _to_portable(value: Any) -> Any:
    """Return an output in a form that `values` can write, or a text that says why none exists."""
    if value is None or isinstance(value, (np.ndarray, list, dict, str, int, float)):
        return value
    if isinstance(value, np.generic):
        return np.asarray(value)
    return f"({type(value).__name__}{NOT_COMPARABLE}"


def _is_exotic(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in NUMBERS


def device_of(session: ort.InferenceSession) -> str:
    """Return where bound buffers lie."""
    on_gpu = {"CUDAExecutionProvider", "TensorrtExecutionProvider"} & set(session.get_providers())
    return "cuda" if on_gpu else "cpu"


def _place(kind: str, device: str) -> str:
    """Return the device of an output: the CPU for element types that numpy cannot fetch."""
    return "cpu" if (EXOTIC.keys() | UNREADABLE) & set(ELEMENT.findall(kind)) else device


def _to_ortvalue(value: Any, device: str) -> ort.OrtValue:
    if _is_exotic(value):
        bits = value.view(f"u{value.dtype.itemsize}")
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, NUMBERS[value.dtype.name])
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OUS":
        return ort.OrtValue.ortvalue_from_numpy(value, device)
    raise TypeError(_NO_BUFFER)


def _from_ortvalue(value: ort.OrtValue) -> Any:
    if not value.is_tensor():
        return f"({value.data_type()}{NOT_COMPARABLE}"
    match = ELEMENT.match(value.data_type())
    name = match[1] if match else ""
    if name in UNREADABLE:
        return f"({name}{NOT_COMPARABLE}"
    if name not in EXOTIC:
        return value.numpy()
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, EXOTIC[name][0]))
    raw = ctypes.string_at(value.data_ptr(), int(np.prod(value.shape(), dtype=np.int64)) * dtype.itemsize)
    return np.frombuffer(bytearray(raw), dtype).reshape(value.shape())
