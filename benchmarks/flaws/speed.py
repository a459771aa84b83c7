"""The time that looking takes: the scan of the weights and the rules, without measuring."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from benchmarks.flaws.nets import Net
from workbench.advisor.gather import gather
from workbench.advisor.look import look
from workbench.advisor.weights import scan_weights
from workbench.config import Config
from workbench.models.loading import load

NODES, WIDTH = 1_000, 64
GIGABYTES, PIECES = 2, 8


def speed_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the seconds for 1,000 nodes and for 2 GB of weights."""
    yield {"part": "speed", "name": f"{NODES:,} nodes", "number": 0, **_of_nodes(folder / "nodes.onnx")}
    yield {"part": "speed", "name": f"{GIGABYTES} GB of weights", "number": 0, **_of_weights(folder)}


def _of_nodes(path: Path) -> dict[str, Any]:
    net = Net([8, WIDTH])
    last = "x"
    for layer in range(NODES // 2):
        last = net.add("Relu", net.add("MatMul", last, net.weight(f"w{layer}", WIDTH, WIDTH)))
    onnx.save(net.model(), path)
    model = load(path)
    evidence = gather(model, Config(), model.inputs(seed=0))
    scan_s = _seconds(lambda: scan_weights(model))
    return {"scan_s": scan_s, "rules_s": _seconds(lambda: look(evidence))}


def _of_weights(folder: Path) -> dict[str, Any]:
    """Scan weights beside the file; `peak_bytes` is the largest memory of any child process so far."""
    side = int((GIGABYTES * 1e9 / PIECES / 4) ** 0.5)
    graph = helper.make_graph([], "weights", [], [])
    block = np.random.default_rng(0).random((side, side), np.float32)
    with (folder / "weights.bin").open("wb") as output:
        for piece in range(PIECES):
            offset = output.tell()
            output.write(block.tobytes())
            tensor = TensorProto(name=f"w{piece}", data_type=TensorProto.FLOAT, dims=[side, side])
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "weights.bin"), ("offset", offset), ("length", block.nbytes)):
                tensor.external_data.add(key=key, value=str(value))
            graph.initializer.append(tensor)
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]))
    graph.node.append(helper.make_node("Relu", ["x"], ["y"]))
    graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1]))
    path = folder / "large.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    model = load(path)
    scan_s = _seconds(lambda: scan_weights(model))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {"scan_s": scan_s, "peak_bytes": peak}


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
