"""Two tiny models, and a Python of their own in which tests may import onnxruntime."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from onnx import TensorProto, helper

OPSET, IR = 17, 8  # what every ORT of the last years takes


def write_model(path: Path) -> Path:
    """x[batch, 4] → Identity → Relu → y: the Identity goes when the graph is optimized."""
    graph = helper.make_graph(
        [
            helper.make_node("Identity", ["x"], ["same"], "same"),
            helper.make_node("Relu", ["same"], ["y"], "relu"),
        ],
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    path.write_bytes(model.SerializeToString())
    return path


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code where neither this folder nor the workbench is on the path."""
    return subprocess.run(
        [sys.executable, "-I", "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        errors="replace",
    )


def answer(code: str, *arguments: str) -> Any:
    """What the code printed last, as JSON; its failure is the test's."""
    done = python(code, *arguments)
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout.splitlines()[-1])
