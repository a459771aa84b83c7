"""Profiled configs made by hand: a chain of nodes with their times."""

from onnx import TensorProto, helper

from workbench.core.bundle.machine import Machine
from workbench.core.models.graph_walk import read_graph
from workbench.features.profile.profiled_config import NodeRun, ProfiledConfig

FLOAT, INT8, UINT8, FLOAT16 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.FLOAT16


def machine(flags=("avx2", "avx512_vnni"), platform="Linux-6.1-x86_64"):
    return Machine("cpu", tuple(flags), 2, 2, 2, None, 1 << 34, None, (), platform)


def profiled(nodes, constants=()):
    """`nodes`: (name, op type, inputs, time in µs); each makes a tensor called like itself."""
    runs = tuple(NodeRun(name, op, "CPUExecutionProvider", spent / 1e6) for name, op, _, spent in nodes)
    graph = read_graph(model(nodes, constants))
    return ProfiledConfig(nodes=runs, run_s=sum(run.time_s for run in runs), graph=graph, profile=None)


def model(nodes, constants=()):
    made = helper.make_graph(
        [helper.make_node(op, list(inputs), [name], name=name) for name, op, inputs, _ in nodes],
        "chain",
        [helper.make_tensor_value_info("x", FLOAT, [4])],
        [helper.make_tensor_value_info(nodes[-1][0], FLOAT, None)],
        [helper.make_tensor(name, kind, [1], [1]) for name, kind in constants],
    )
    return helper.make_model(made)
