"""Real traces, made by ORT on the spot, and events written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import ModelProto, TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def make(
    nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: dict[str, Any] | None = None
) -> ModelProto:
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in (weights or {}).items()]
    graph = helper.make_graph(nodes, "traced", inputs, outputs, stored)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


def value(name: str, dims: list[int | str] | None, kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, dims)


def chain(layers: int = 4, width: int = 16) -> ModelProto:
    """MatMul and Sigmoid by turns, in modules."""
    nodes, weights, last = [], {}, "x"
    for layer in range(layers):
        weights[f"w{layer}"] = np.full((width, width), 0.01, np.float32)
        nodes.append(helper.make_node("MatMul", [last, f"w{layer}"], [f"m{layer}"], f"/layer.{layer}/MatMul"))
        nodes.append(helper.make_node("Sigmoid", [f"m{layer}"], [f"s{layer}"], f"/layer.{layer}/act/Sigmoid"))
        last = f"s{layer}"
    return make(nodes, [value("x", ["n", width])], [value(last, ["n", width])], weights)


def looped(trips: int = 3) -> ModelProto:
    """A Loop whose body holds an If."""
    then = helper.make_graph(
        [helper.make_node("Sigmoid", ["v_in"], ["t"], "then_sigmoid")], "then", [], [value("t", [8, 8])]
    )
    other = helper.make_graph(
        [helper.make_node("Tanh", ["v_in"], ["e"], "else_tanh")], "else", [], [value("e", [8, 8])]
    )
    body = helper.make_graph(
        [
            helper.make_node("Mod", ["i", "two"], ["odd"], "body_mod"),
            helper.make_node("Cast", ["odd"], ["flag"], "body_cast", to=BOOL),
            helper.make_node("If", ["flag"], ["branch"], "body_if", then_branch=then, else_branch=other),
            helper.make_node("MatMul", ["branch", "w"], ["v_out"], "body_matmul"),
            helper.make_node("Identity", ["go"], ["go_on"], "body_identity"),
        ],
        "body",
        [value("i", [], INT64), value("go", [], BOOL), value("v_in", [8, 8])],
        [value("go_on", [], BOOL), value("v_out", [8, 8])],
    )
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], "before"),
        helper.make_node("Loop", ["trips", "yes", "r"], ["z"], "loop", body=body),
        helper.make_node("Relu", ["z"], ["y"], "after"),
    ]
    weights = {
        "trips": np.int64(trips),
        "yes": np.bool_(True),
        "two": np.int64(2),
        "w": np.eye(8, dtype=np.float32),
    }
    return make(nodes, [value("x", [8, 8])], [value("y", [8, 8])], weights)


def wide(branches: int = 4, width: int = 160) -> ModelProto:
    """Branches that a parallel executor runs at the same time."""
    nodes, weights = [], {}
    for branch in range(branches):
        weights[f"w{branch}"] = np.full((width, width), 0.01, np.float32)
        nodes.append(helper.make_node("MatMul", ["x", f"w{branch}"], [f"a{branch}"], f"first{branch}"))
        nodes.append(helper.make_node("Sigmoid", [f"a{branch}"], [f"b{branch}"], f"second{branch}"))
    nodes.append(helper.make_node("Sum", [f"b{branch}" for branch in range(branches)], ["y"], "sum"))
    return make(nodes, [value("x", [width, width])], [value("y", [width, width])], weights)


def trace_of(
    model: ModelProto, folder: Path, feed: dict[str, Any], *, runs: int = 3, **attributes: Any
) -> Path:
    """Run with the profiler on and give its file."""
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "trace")
    for name, setting in {"intra_op_num_threads": 1, **attributes}.items():
        setattr(options, name, setting)
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    for _ in range(runs):
        session.run(None, feed)
    return Path(session.end_profiling())


def event(name: str, ts: float, dur: float, cat: str = "Node", tid: int = 1, **args: Any) -> dict[str, Any]:
    return {"cat": cat, "pid": 1, "tid": tid, "dur": dur, "ts": ts, "ph": "X", "name": name, "args": args}


def node(name: str, ts: float, dur: float, op: str = "MatMul", tid: int = 1, **args: Any) -> dict[str, Any]:
    fields = {"op_name": op, "provider": "CPUExecutionProvider"} | args
    return event(f"{name}_kernel_time", ts, dur, tid=tid, **fields)


def write(folder: Path, events: list[Any], *, close: bool = True, name: str = "hand.json") -> Path:
    """As ORT writes it: an event a line."""
    path = folder / name
    lines = ",\n".join(json.dumps(line) for line in events)
    path.write_text("[\n" + lines + ("\n]\n" if close else ",\n"), encoding="utf-8")
    return path
