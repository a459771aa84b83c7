"""How a run is fed: element types that numpy lacks, buffers bound beforehand, several feeds in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from tests.core.models import tiny
from tests.real.longlived import LongLived
from workbench.core.config import Config
from workbench.core.errors import RunFailed
from workbench.core.models import load
from workbench.core.worker.elements import packed, unpacked
from workbench.core.worker.feeding import BoundCall

pytestmark = pytest.mark.real

WIDTHS = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2, "float8_e5m2": 8, "bfloat16": 16}


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongLived]:
    plan = Config(io_binding=True, intra_op_threads=1).plan().to_dict()
    with LongLived(tmp_path_factory.mktemp("bound") / "worker", plan=plan) as worker:
        yield worker


@given(st.sampled_from(sorted(WIDTHS)), st.lists(st.integers(0, 255), max_size=9), st.booleans())
def test_packing_is_undone(name: str, codes: list[int], as_row: bool) -> None:
    dtype, bits = np.dtype(getattr(ml_dtypes, name)), WIDTHS[name]
    raw = np.array(codes, np.uint8) & ((1 << min(bits, 8)) - 1)
    array = (np.repeat(raw, 2) if bits == 16 else raw).view(dtype)
    array = array.reshape(1, -1) if as_row else array
    kept = packed(array, bits)
    assert kept.shape == array.shape
    stored = kept.tobytes()[: -(-array.size * bits // 8)]
    values = unpacked(stored, array.shape, dtype, bits)
    assert (values.shape, values.dtype) == (array.shape, dtype)
    assert values.tobytes() == array.tobytes()


def test_packing_puts_the_first_element_lowest() -> None:
    assert packed(np.array([1, 2, 3], ml_dtypes.uint4), 4).tobytes() == bytes([0x21, 0x03, 0])
    assert packed(np.array([1, 2, 3, 0, 1], ml_dtypes.uint2), 2).tobytes() == bytes([0b00111001, 1, 0, 0, 0])


@pytest.mark.parametrize(
    ("element", "values"),
    [
        (TensorProto.INT4, [-8, -1, 0, 1, 7, 3]),
        (TensorProto.UINT4, [0, 1, 15, 8, 7, 3]),
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
