"""The time that looking takes: the scan of the weights and the rules, without measuring.

The large model is 2 GB of float32 in a file beside the graph. It is written ten megabytes at a time, so the
memory of this process stays bounded too; both peaks stand in the table. The file comes from the page cache,
where the system can keep it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import TensorProto, helper

from benchmarks.models import IR_VERSION, OPSET, Net
from workbench.core.config import Config
from workbench.core.measure.machine import read_machine
from workbench.core.models.loading import load
from workbench.core.worker.usage import peak_rss_bytes
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.gather import gather
from workbench.features.findings.rule import look
from workbench.features.findings.weights import scan_weights

Answer = TypeVar("Answer")

NODES, WIDTH = 1_000, 64
WEIGHTS, ROWS, COLUMNS = 8, 6_250, 10_000  # of float32: 2 GB
ROWS_AT_ONCE = 250  # 10 MB


def speed_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the seconds for 1,000 nodes, and for 2 GB of weights that differ and that are equal."""
    yield {"part": "speed", "name": f"{NODES:,} nodes", "number": 0, **_of_nodes(folder / "nodes.onnx")}
    size_bytes = write_weights(folder / "weights.bin", WEIGHTS)
    for kind in ("different", "equal"):
        path = folder / f"{kind}.onnx"
        onnx.save(large_model(share=kind == "equal", count=WEIGHTS), path)
        name = f"{size_bytes / 1e9:g} GB of {kind} weights"
        yield {"part": "speed", "name": name, "number": 0, **_of_weights(path)}


def _of_nodes(path: Path) -> dict[str, Any]:
    net = Net([8, WIDTH])
    last = "x"
    for layer in range(NODES // 2):
        last = net.add("Relu", net.add("MatMul", last, net.weight(f"w{layer}", WIDTH, WIDTH)))
    onnx.save(net.model(), path)
    model = load(path)
    evidence = gather(model, Config(), model.inputs(seed=0))
    scan_s, scan = _timed(lambda: scan_weights(model))
    rules_s, _ = _timed(lambda: look(evidence))
    return {"scan_s": scan_s, "rules_s": rules_s, "peak_bytes": scan.peak_bytes}


def write_weights(path: Path, count: int) -> int:
    """Write the elements of all weights, no two weights equal; return the bytes of the file."""
    rows = np.random.default_rng(0).standard_normal((ROWS_AT_ONCE, COLUMNS), np.float32)
    with path.open("wb") as output:
        for weight in range(count):
            for part in range(ROWS // ROWS_AT_ONCE):
                rows[0, 0] = 0 if part else weight
                output.write(rows.data)
    return path.stat().st_size


def large_model(*, share: bool, count: int) -> onnx.ModelProto:
    """Return products of one input with every weight, summed. `share`: all weights are the first one."""
    weights, products = [], []
    size_bytes = ROWS * COLUMNS * 4
    for place in range(count):
        tensor = TensorProto(name=f"w{place}", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS])
        tensor.data_location = TensorProto.EXTERNAL
        offset = 0 if share else place * size_bytes
        for key, value in (("location", "weights.bin"), ("offset", offset), ("length", size_bytes)):
            tensor.external_data.add(key=key, value=str(value))
        weights.append(tensor)
        products.append(helper.make_node("MatMul", ["x", tensor.name], [f"y{place}"], f"product{place}"))
    total = helper.make_node("Sum", [f"y{place}" for place in range(count)], ["y"], "sum")
    graph = helper.make_graph(
        [*products, total],
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, ROWS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, COLUMNS])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def _of_weights(path: Path) -> dict[str, Any]:
    """Return the seconds of the scan and of every rule that needs no run, with the peak of both processes."""
    model = load(path)
    scan_s, scan = _timed(lambda: scan_weights(model))
    evidence = Evidence(
        model.name, Config(), read_machine(), model.structure, weights=scan, source_weights=scan,
        size_bytes=scan.size_bytes,
    )  # fmt: skip
    rules_s, _ = _timed(lambda: look(evidence))
    return {
        "scan_s": scan_s, "rules_s": rules_s, "peak_bytes": scan.peak_bytes, "own_bytes": peak_rss_bytes(),
    }  # fmt: skip


def _timed(work: Callable[[], Answer]) -> tuple[float, Answer]:
    began = time.perf_counter()
    answer = work()
    return time.perf_counter() - began, answer
