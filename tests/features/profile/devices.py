"""Traces as ORT writes them with other providers and in older versions, event by event."""

from __future__ import annotations

from typing import Any

from tests.features.profile.traces import event

CUDA, TENSORRT, CPU = "CUDAExecutionProvider", "TensorrtExecutionProvider", "CPUExecutionProvider"
FLOAT_4 = [{"float": [1, 4]}]
RUN_US = 200


def call(name: str, ts: float, dur: float, op: str, provider: str, **args: Any) -> dict[str, Any]:
    """A node of a newer ORT: numbers are texts, no arena on a device."""
    fields = {
        "op_name": op,
        "provider": provider,
        "node_index": "3",
        "parameter_size": "64",
        "activation_size": "16",
        "output_size": "16",
        "input_type_shape": FLOAT_4,
        "output_type_shape": FLOAT_4,
        "thread_scheduling_stats": "",
    }
    return event(f"{name}_kernel_time", ts, dur, tid=41, **(fields | args))


def kernel(
    name: str,
    ts: float,
    dur: float,
    stream: int,
    launcher: dict[str, Any] | None = None,
    *,
    named: bool = True,
) -> dict[str, Any]:
    """As CUPTI's records come: no process, no thread, every number a text."""
    sizes = dict.fromkeys(("grid_x", "grid_y", "grid_z"), "8") | {
        "block_x": "128",
        "block_y": "1",
        "block_z": "1",
    }
    args = {"stream": str(stream)} | sizes
    if launcher is not None:
        args["op_name"] = launcher["args"]["op_name"]
        if named:
            args["parent_name"] = launcher["name"]
    return {**event(name, ts, dur, "Kernel", tid=-1, **args), "pid": -1}


def around(events: list[dict[str, Any]], ts: float, dur: float = RUN_US) -> list[dict[str, Any]]:
    """The events of one run, with what ORT puts around them."""
    return [
        *events,
        event("SequentialExecutor::Execute", ts + 2, dur - 6, "Session", tid=41),
        event("model_run", ts, dur, "Session", tid=41),
    ]


def loading() -> list[dict[str, Any]]:
    return [
        event("model_loading_from_saved_file", 3, 400, "Session", tid=41),
        event("session_initialization", 410, 900, "Session", tid=41),
    ]


def cuda_run(ts: float, *, named: bool = True) -> list[dict[str, Any]]:
    """Two convolutions of one type, copies on a stream of their own, the last kernel after the run's end."""
    copy_in = call("Memcpy_token_0", ts + 4, 6, "MemcpyFromHost", CUDA)
    first = call("conv_a", ts + 12, 30, "Conv", CUDA)
    second = call("conv_b", ts + 44, 20, "Conv", CUDA)
    shape = call("shape", ts + 66, 4, "Shape", CPU)
    copy_out = call("Memcpy_token_1", ts + 72, 100, "MemcpyToHost", CUDA)
    events = [
        copy_in,
        kernel("MemcpyHostToDevice", ts + 7, 9, 14, copy_in, named=named),
        first,
        kernel("void cudnn::nchwToNhwcKernel<float>(int)", ts + 20, 5, 7, first, named=named),
        kernel("sm80_xmma_fprop_implicit_gemm", ts + 26, 60, 7, first, named=named),
        second,
        kernel("sm80_xmma_fprop_implicit_gemm", ts + 87, 70, 7, second, named=named),
        shape,
        copy_out,
        kernel("MemcpyDeviceToHost", ts + 160, 45, 14, copy_out, named=named),
    ]
    return around(events, ts)


def cuda_trace(runs: int = 3, *, named: bool = True) -> list[dict[str, Any]]:
    events = loading()
    for run in range(runs):
        events += cuda_run(2_000 + 300 * run, named=named)
    return events


def compiled_run(ts: float, name: str, op: str, provider: str) -> list[dict[str, Any]]:
    """One event a part that a provider compiled, and a node that it left to the CPU."""
    whole = call(name, ts + 4, 150, op, provider, parameter_size="0")
    return around([whole, call("argmax", ts + 156, 20, "ArgMax", CPU)], ts)


COMPILED = {
    "tensorrt": ("TensorrtExecutionProvider_TRTKernel_graph_main_graph_1093_0_0",
                 "TRTKernel_graph_main_graph_1093_0", TENSORRT),
    "openvino": ("OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1_0", "OpenVINO-EP-subgraph_1",
                 "OpenVINOExecutionProvider"),
    "qnn": ("QNNExecutionProvider_QNN_8734_1_0", "QNN_8734_1", "QNNExecutionProvider"),
}  # fmt: skip


def fenced(name: str, ts: float, dur: float, op: str, wait: float = 0) -> list[dict[str, Any]]:
    """A node of older ORT: two events more, a plan's position, no memory."""
    args = {
        "op_name": op,
        "provider": CPU,
        "graph_index": "3",
        "exec_plan_index": "0",
        "activation_size": "16",
        "parameter_size": "0",
        "output_size": "16",
    }
    return [
        event(f"{name}_fence_before", ts, wait, tid=41, op_name=op),
        event(f"{name}_kernel_time", ts + wait, dur, tid=41, **args),
        event(f"{name}_fence_after", ts + wait + dur, 0, tid=41, op_name=op),
    ]


def old_run(ts: float) -> list[dict[str, Any]]:
    """Nodes shorter than a microsecond stand between fences that begin and end with them."""
    events = [
        *fenced("a", ts + 5, 40, "Conv", wait=3),
        *fenced("b", ts + 48, 0, "Reshape"),
        *fenced("c", ts + 48, 0, "Squeeze"),
        *fenced("d", ts + 48, 60, "Gemm"),
    ]
    return around(events, ts)
