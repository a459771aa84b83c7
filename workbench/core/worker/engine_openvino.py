"""OpenVINO as an engine: the ONNX file, read and compiled by its runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import openvino


def versions() -> dict[str, str]:
    return {"openvino": openvino.__version__.partition("-")[0]}


def load(model: str, plan: dict[str, Any]) -> Compiled:
    """Compile the file for the device, with the settings of the plan."""
    device = plan["engine"].get("device") or "CPU"
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model), device, plan["settings"])
    return Compiled(compiled, plan, f"OpenVINO {device}")


class Compiled:
    """A compiled model with one request, as one caller has it."""

    def __init__(self, compiled: Any, plan: dict[str, Any], where: str) -> None:
        self.names = list(plan["outputs"])
        self.runs_on = [where]
        self.threads = plan["threads"]
        self._request = compiled.create_infer_request()
        self._outputs = {name: port for port in compiled.outputs for name in port.get_names()}
        self._ports = compiled.outputs

    def call(self, feed: Mapping[str, Any]) -> Callable[[], Any]:
        given = {name: np.ascontiguousarray(value) for name, value in feed.items()}
        request = self._request

        def run() -> Any:
            return request.infer(given, share_inputs=True)

        return run

    def arrays(self, result: Any) -> list[Any]:
        ports = [self._outputs.get(name, port) for name, port in zip(self.names, self._ports, strict=True)]
        return [np.array(result[port]) for port in ports]
