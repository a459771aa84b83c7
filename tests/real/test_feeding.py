"""How a run is fed: element types that numpy lacks, buffers bound beforehand, several feeds in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from tests.core.models import tiny
from tests.real.longlived import LongLived
from workbench.core.config import Config
from workbench.core.errors import RunFailed
from workbench.core.measure.agreement import compare_outputs
from workbench.core.models import load
from workbench.core.worker.feeding import BoundCall

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongLived]:
    plan = Config(io_binding=True, intra_op_threads=1).plan().to_dict()
    with LongLived(tmp_path_factory.mktemp("bound") / "worker", plan=plan) as worker:
        yield worker


@pytest.mark.parametrize(
    ("element", "values"),
    [
        (TensorProto.BFLOAT16, [0.5, -2, 3, 4, 5, 1e30]),
        (TensorProto.FLOAT8E4M3FN, [0.5, -2, 3, 4, 5, 448]),
    ],
)
def test_values_arrive_as_they_are(
    element: int, values: list[float], bound: LongLived, tmp_path: Path
) -> None:
    """Through Cast to float32: the numbers come out that went in."""
    path = tiny.save(tiny.casting(element), tmp_path)
    feed = {"x": np.array(values, np.float32).reshape(2, 3).astype(helper.tensor_dtype_to_np_dtype(element))}
    bound.first_run(path, load(path).inputs(feed).feeds)
    (outputs,) = bound.outputs()
    np.testing.assert_array_equal(outputs["y"], feed["x"].astype(np.float32))


@pytest.mark.parametrize("element", [TensorProto.INT4, TensorProto.UINT4])
def test_an_output_that_no_array_holds_is_said_to_be_not_comparable(
    element: int, bound: LongLived, tmp_path: Path
) -> None:
    nodes = [helper.make_node("Cast", ["x"], ["y"], "cast", to=element)]
    proto = tiny.model(nodes, [tiny.tensor("x", [2, 3])], [tiny.tensor("y", [2, 3], element)])
    proto.opset_import[0].version = 21
    path = tiny.save(proto, tmp_path)
    bound.first_run(path, load(path).inputs().feeds)
    (outputs,) = bound.outputs()
    assert outputs["y"].endswith("int4: not comparable)")


def test_bound_feeds_of_several_sizes_take_turns(bound: LongLived, tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    feeds = [{"x": np.full((rows, 4), rows, np.float32)} for rows in (1, 3, 2)]
    warm, block = bound.measure(path, load(path).inputs(feeds).feeds)
    assert min(warm, block) >= 2
    bound.first_run(path, load(path).inputs(feeds).feeds)
    assert [outputs["y"].shape for outputs in bound.outputs()] == [(1, 3), (3, 3), (2, 3)]


def test_outputs_that_cannot_be_kept_are_new_for_every_run(bound: LongLived, tmp_path: Path) -> None:
    """A Loop without a turn hands out its start, whose shape differs from what it declares to keep."""
    path = tiny.save(tiny.loop(trips=0), tmp_path)
    warm, block = bound.measure(path, load(path).inputs().feeds)
    assert min(warm, block) >= 2


def test_a_bound_sequence_comes_out_whole(bound: LongLived, tmp_path: Path) -> None:
    nodes = [helper.make_node("SplitToSequence", ["x"], ["parts"], "split", axis=0)]
    parts = helper.make_tensor_sequence_value_info("parts", TensorProto.FLOAT, None)
    path = tiny.save(tiny.model(nodes, [tiny.tensor("x", [3, 2])], [parts]), tmp_path)
    feed = {"x": np.arange(6, dtype=np.float32).reshape(3, 2)}
    bound.first_run(path, load(path).inputs(feed).feeds)
    (outputs,) = bound.outputs()
    np.testing.assert_array_equal(np.concatenate(outputs["parts"]), feed["x"])


@pytest.mark.parametrize("name", ["sequence", "dictionary", "strings"])
def test_what_no_buffer_holds_says_so(name: str, bound: LongLived, tmp_path: Path) -> None:
    path = tiny.save(tiny.ALL[name](), tmp_path)
    with pytest.raises(RunFailed, match="tensors of numbers only") as caught:
        bound.first_run(path, load(path).inputs().feeds)
    assert "leave io_binding off" in caught.value.fix


class Device:
    """As much of a session on a GPU as binding needs."""

    def __init__(self, **outputs: str) -> None:
        self.given = [SimpleNamespace(name=name, type=kind) for name, kind in outputs.items()]
        self.bound: dict[str, str] = {}

    def get_providers(self) -> list[str]:
        return ["CUDAExecutionProvider", "CPUExecutionProvider"]

    def get_outputs(self) -> list[SimpleNamespace]:
        return self.given

    def io_binding(self) -> Device:
        return self

    def clear_binding_outputs(self) -> None:
        self.bound.clear()

    def bind_output(self, name: str, device: str) -> None:
        self.bound[name] = device

    def run_with_iobinding(self, *_: object) -> None: ...


def test_bytes_that_python_reads_in_place_are_never_left_on_the_gpu() -> None:
    session: Any = Device(a="tensor(float)", b="tensor(bfloat16)", c="seq(tensor(float8e5m2))")
    BoundCall(session, {}, None)
    assert session.bound == {"a": "cuda", "b": "cpu", "c": "cpu"}


def test_a_sequence_beside_a_bfloat16_input_is_said_to_be_unreadable() -> None:
    """Equal texts that stand for it would be called equal outputs."""
    kinds = {"x": TensorProto.BFLOAT16, "f": TensorProto.FLOAT, "z": TensorProto.BFLOAT16}
    x, f, z = (helper.make_tensor_value_info(name, kind, [4]) for name, kind in kinds.items())
    y = helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)
    nodes = [helper.make_node("SequenceConstruct", ["f"], ["y"]), helper.make_node("Identity", ["x"], ["z"])]
    graph = helper.make_graph(nodes, "sequence", [x, f], [y, z])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {"x": np.ones(4, ml_dtypes.bfloat16), "f": np.ones(4, np.float32)}
    outputs = [dict(zip("yz", BoundCall(session, feed, None).outputs(), strict=True))]
    assert [row.agrees for row in compare_outputs("B", outputs, outputs)] == [None, True]
