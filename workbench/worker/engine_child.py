"""The worker process of another engine: PyTorch, OpenVINO or TensorRT in place of ONNX Runtime.

An engine is a module of this package with `versions()` and `load(model, plan)`; only its worker imports it.
"""

from __future__ import annotations

import sys
from importlib import import_module

from workbench.worker.child import die_with, fail, imported, serve

ENGINES = {"pytorch": "engine_torch", "openvino": "engine_openvino", "tensorrt": "engine_tensorrt"}


def main() -> None:
    """Answer commands until the parent ends; `argv[3]` names the engine."""
    die_with(int(sys.argv[2]))
    module = f"workbench.worker.{ENGINES[sys.argv[3]]}"

    def versions() -> dict[str, str]:
        return {"numpy": import_module("numpy").__version__, **import_module(module).versions()}

    try:
        started = imported(versions)
    except ImportError as error:
        fail(error)
        return

    from workbench.worker.engine_host import EngineHost

    serve(started, EngineHost(import_module(module)))
