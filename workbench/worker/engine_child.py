"""The worker process of another engine: PyTorch, OpenVINO or TensorRT in place of ONNX Runtime.

An engine is a module of this package with `versions()` and `load(model, plan)`; only its worker imports it.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module

from workbench.worker.child import die_with, fail, serve
from workbench.worker.usage import rss_bytes

ENGINES = {"pytorch": "engine_torch", "openvino": "engine_openvino", "tensorrt": "engine_tensorrt"}


def main() -> None:
    """Answer commands until the parent ends; `argv[3]` names the engine."""
    die_with(int(sys.argv[2]))
    bare_bytes, began = rss_bytes(), time.perf_counter()
    try:
        numpy = import_module("numpy")
        engine = import_module(f"workbench.worker.{ENGINES[sys.argv[3]]}")
    except ImportError as error:
        fail(error)
        return
    versions = {"python": sys.version.split()[0], "numpy": numpy.__version__, **engine.versions()}
    started = {"versions": versions, "import_s": time.perf_counter() - began, "bare_bytes": bare_bytes}

    from workbench.worker.engine_host import EngineHost

    serve(started, EngineHost(engine))
