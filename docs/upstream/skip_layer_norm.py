"""SkipLayerNormalization on the CPU against the nodes that it replaces. Needs numpy, onnx, onnxruntime."""

import json
import platform
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

LAYERS, TOKENS = 8, 128
SIZES = (64, 256, 768, 1536)


def model(hidden: int) -> bytes:
    """Eight times Relu, Add, LayerNormalization, of a size that is known."""
    rng = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for layer in range(LAYERS):
        for name in ("scale", "bias"):
            array = rng.normal(1, 0.1, hidden).astype(np.float32)
            weights.append(numpy_helper.from_array(array, f"{name}{layer}"))
        nodes.append(helper.make_node("Relu", [value], [f"relu{layer}"], f"relu{layer}"))
        nodes.append(helper.make_node("Add", [value, f"relu{layer}"], [f"sum{layer}"], f"add{layer}"))
        inputs = [f"sum{layer}", f"scale{layer}", f"bias{layer}"]
        value = f"norm{layer}"
        nodes.append(helper.make_node("LayerNormalization", inputs, [value], value, axis=-1))
    shape = [1, TOKENS, hidden]
    graph = helper.make_graph(
        nodes,
        "skip_layer_norm",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, shape)],
        weights,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made.SerializeToString()


def session(data: bytes, fused: bool, profile: str = "") -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, profile
    left_out = [] if fused else ["SkipLayerNormFusion"]
    return ort.InferenceSession(data, options, ["CPUExecutionProvider"], disabled_optimizers=left_out)


def node_us(data: bytes, fused: bool, x: np.ndarray) -> dict[str, float]:
    """Microseconds a run of each operator, from ORT's own profile."""
    with tempfile.TemporaryDirectory() as folder:
        profiled = session(data, fused, str(Path(folder, "profile")))
        for _ in range(60):
            profiled.run(None, {"x": x})
        events = json.loads(Path(profiled.end_profiling()).read_text("utf-8"))
    spent: dict[str, list[float]] = {}
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            spent.setdefault(event["args"]["op_name"], []).append(event["dur"])
    return {name: statistics.median(durations) * LAYERS for name, durations in spent.items()}


def main() -> None:
    print(
        f"onnxruntime {ort.__version__}, onnx {onnx.__version__}, numpy {np.__version__}, "
        f"Python {platform.python_version()}, {platform.machine()}"
    )
    print("hidden  runs: fused  apart  ratio | kernels: SkipLayerNorm  Add + LayerNorm  ratio")
    for hidden in SIZES:
        data = model(hidden)
        x = np.random.default_rng(1).normal(size=(1, TOKENS, hidden)).astype(np.float32)
        sessions = {fused: session(data, fused) for fused in (True, False)}
        outputs = [item.run(None, {"x": x})[0] for item in sessions.values()]
        np.testing.assert_allclose(*outputs, rtol=1e-3, atol=1e-4)
        seen: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(200):  # in turns, so that both see the same machine
            for fused, item in sessions.items():
                start = time.perf_counter()
                item.run(None, {"x": x})
                seen[fused].append(time.perf_counter() - start)
        fused_us, apart_us = (statistics.median(seen[fused]) * 1e6 for fused in (True, False))
        one, parts = node_us(data, True, x), node_us(data, False, x)
        skip = one["SkipLayerNormalization"]
        rest = parts["Add"] + parts["LayerNormalization"]
        print(
            f"{hidden:6} {fused_us:8.0f} us {apart_us:6.0f} us {fused_us / apart_us:5.2f} "
            f"| {skip:10.0f} us {rest:10.0f} us {skip / rest:5.2f}"
        )


if __name__ == "__main__":
    main()
