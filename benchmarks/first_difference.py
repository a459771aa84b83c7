"""The time to find a planted difference: `python -m benchmarks.first_difference`.

A node of a stack of 51 to 999 nodes is damaged: an activation rounded to float16, one channel of a weight,
all of a weight. Beside the time of the search stands that of two processes that each load the model with all
tensors as outputs and run it once: the search may take three times as long, and 60 s for the large models.
The last stack has weights of 333 MiB, so it is searched by bisection; the last column has the tensors that
were in view.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

import workbench as wb

SIZES = ((51, 64), (150, 64), (300, 64), (600, 64), (999, 64), (999, 512))  # nodes, channels
SMALL, MOST_TIMES, MOST_S = 300, 3.0, 60.0
RUN = """
import sys, numpy as np, onnxruntime as ort
session = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
session.run(None, {"x": np.ones((4, int(sys.argv[2])), np.float32)})
"""


def stack(node_count: int, width: int) -> ModelProto:
    """Return layers of a product, a sum and an activation."""
    rng, value = np.random.default_rng(0), "x"
    nodes, weights = [], []
    for at in range(node_count // 3):
        scale = rng.normal(0, 0.8 / width**0.5, (width, width)).astype(np.float32)
        weights.append(numpy_helper.from_array(scale, f"w{at}"))
        nodes.append(helper.make_node("MatMul", [value, f"w{at}"], [f"p{at}"], f"product{at}"))
        nodes.append(helper.make_node("Add", [f"p{at}", value], [f"s{at}"], f"sum{at}"))
        nodes.append(helper.make_node("Tanh", [f"s{at}"], [f"t{at}"], f"tanh{at}"))
        value = f"t{at}"
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, width])] for name in ("x", value)]
    graph = helper.make_graph(nodes, "stack", *ends, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def plant(model: ModelProto, flaw: str, at: int) -> str:
    """Damage a layer and return the first tensor that differs."""
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == f"w{at}")
    values = numpy_helper.to_array(weight).copy()
    if flaw == "float16":
        nodes = model.graph.node
        place = next(number for number, node in enumerate(nodes) if node.name == f"tanh{at}")
        nodes[place].output[0] = "rounded"
        nodes.insert(place + 1, helper.make_node("Cast", ["rounded"], ["half"], "narrow", to=10))
        nodes.insert(place + 2, helper.make_node("Cast", ["half"], [f"t{at}"], "wide", to=1))
        return f"t{at}"
    values[:, 3 if flaw == "one channel" else slice(None)] *= 0.5
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    return f"p{at}"


def two_runs_s(model: ModelProto, folder: Path, width: int) -> float:
    """Return the time of two processes that load the model with all tensors as outputs and run it."""
    exposed = ModelProto.FromString(model.SerializeToString())
    del exposed.graph.output[:]
    names = (name for node in exposed.graph.node for name in node.output)
    exposed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    path = folder / "exposed.onnx"
    onnx.save(exposed, path)
    began = time.perf_counter()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", RUN, str(path), str(width)], check=True)
    return time.perf_counter() - began


def main() -> None:
    """Print a row for each size and flaw."""
    heads = f"{'search s':>9} {'two runs s':>11} {'times':>6} {'kept':<5} in view"
    print(f"{'nodes':>6} {'wide':>5} {'flaw':<12} {'found':<6} {heads}")
    for node_count, width in SIZES:
        for flaw in ("float16", "one channel", "weight"):
            with TemporaryDirectory() as made:
                folder, model = Path(made), stack(node_count, width)
                onnx.save(model, folder / "right.onnx")
                runs_s = two_runs_s(model, folder, width)
                tensor = plant(model, flaw, node_count // 6)
                onnx.save(model, folder / "wrong.onnx")
                began = time.perf_counter()
                found = wb.first_difference(folder / "right.onnx", folder / "wrong.onnx", tolerance=1e-5)
                search_s = time.perf_counter() - began
            record = found.record
            first = record.beyond[0].tensor if record.beyond else None
            kept = search_s <= (MOST_TIMES * runs_s if node_count <= SMALL else MOST_S)
            print(
                f"{node_count:>6} {width:>5} {flaw:<12} {'yes' if first == tensor else first!s:<6} "
                f"{search_s:>9.2f} {runs_s:>11.2f} {search_s / runs_s:>6.1f} {'yes' if kept else 'no':<5} "
                f"{len(record.tensors)}", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
