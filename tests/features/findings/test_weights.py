"""The scan of the weights: every count, and which weights are the same, against plain numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from workbench.core.worker import weight_scan

RANDOM = np.random.default_rng(0)


def scanned(tmp_path: Path, **arrays: Any) -> dict[str, dict[str, Any]]:
    """Return the rows of a file with these initializers, half of them beside the file."""
    tensors = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in arrays.items()]
    graph = helper.make_graph([], "weights", [], [], tensors)
    path = tmp_path / "weights.onnx"
    onnx.save(
        helper.make_model(graph), path, save_as_external_data=True, location="w.bin", size_threshold=3000
    )
    return {row["name"]: row for row in weight_scan.run(str(path))["weights"]}


def spoiled(*shape: int, dtype: Any = np.float32) -> Any:
    """Return floats with zeros of both signs, denormals, infinities and NaN among them."""
    array = (RANDOM.uniform(0.5, 1.5, shape) * RANDOM.choice([-1, 1], shape)).astype(dtype)
    flat = array.reshape(-1)
    tiny = np.finfo(dtype).tiny
    flat[3:10] = [0.0, -0.0, tiny / 4, -tiny / 2, tiny, np.inf, -np.inf]
    flat[20] = np.nan
    return array


@pytest.mark.parametrize("tile", [7, 100, 1 << 18])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(2000,), (40, 50), (1, 2000), (2000, 1), (20, 10, 3, 4)])
def test_counts_and_the_largest(
    shape: tuple[int, ...], dtype: Any, tile: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weight_scan, "TILE_ELEMENTS", tile)
    array = spoiled(*shape, dtype=dtype)
    row = scanned(tmp_path, w=array)["w"]
    sizes = np.abs(array)
    finite = np.isfinite(array)
    assert row["zeros"] == 2
    assert row["denormals"] == ((sizes > 0) & (sizes < np.finfo(dtype).tiny)).sum() == 2
    assert row["non_finite"] == (~finite).sum() == 3
    assert row["largest"] == sizes[finite].max()
    assert (row["dims"], row["size_bytes"]) == (list(shape), array.nbytes)


@pytest.mark.parametrize("tile", [7, 1 << 18])
def test_ranges_over_rows_and_columns(tile: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_scan, "TILE_ELEMENTS", tile)
    matrix = RANDOM.standard_normal((30, 40)).astype(np.float32)
    matrix[3] *= 50
    matrix[:, 7] *= 9
    rows = scanned(tmp_path, matrix=matrix, image=matrix.reshape(30, 10, 2, 2), vector=matrix.reshape(-1))
    for name, axis in (("channel_range", 1), ("column_range", 0)):
        ranges = np.abs(matrix).max(axis=axis).astype(np.float64)
        assert rows["matrix"][name] == pytest.approx(ranges.max() / np.median(ranges))
    assert rows["image"]["channel_range"] == rows["matrix"]["channel_range"]
    assert rows["image"]["column_range"] is None
    assert rows["vector"]["channel_range"] is None


def test_equal_and_transposed_weights_are_hashed_and_others_are_not(tmp_path: Path) -> None:
    matrix = RANDOM.standard_normal((30, 40)).astype(np.float32)
    shuffled = RANDOM.permutation(matrix.reshape(-1)).reshape(30, 40)
    rows = scanned(
        tmp_path, a=matrix, again=matrix, turned=matrix.T, other=matrix + 1, shuffled=shuffled,
        integers=RANDOM.integers(0, 9, (30, 40)),
    )  # fmt: skip
    assert rows["a"]["sha1"] == rows["again"]["sha1"] == rows["turned"]["sha1_transposed"]
    assert rows["turned"]["sha1"] == rows["a"]["sha1_transposed"]
    assert rows["shuffled"]["sha1"] not in (rows["a"]["sha1"], rows["turned"]["sha1"])
    assert rows["other"]["sha1"] is rows["integers"]["sha1"] is None
    assert rows["integers"]["largest"] is None


@pytest.mark.parametrize("location", ["DEFAULT", "EXTERNAL"])
def test_weights_of_four_bits_are_left_out_wherever_they_lie(location: str, tmp_path: Path) -> None:
    packed = TensorProto(name="packed", data_type=TensorProto.INT4, dims=[64, 64])
    if location == "EXTERNAL":
        (tmp_path / "w.bin").write_bytes(bytes(2048))
        packed.data_location = TensorProto.EXTERNAL
        packed.external_data.add(key="location", value="w.bin")
    else:
        packed.raw_data = bytes(2048)
    floats = numpy_helper.from_array(np.ones((40, 50), np.float32), "floats")
    onnx.save(helper.make_model(helper.make_graph([], "g", [], [], [packed, floats])), tmp_path / "m.onnx")
    assert [row["name"] for row in weight_scan.run(str(tmp_path / "m.onnx"))["weights"]] == ["floats"]


def test_a_long_row_is_read_in_parts_and_so_is_a_transposed_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = RANDOM.standard_normal((30, 40)).astype(np.float32)
    whole = scanned(tmp_path, a=matrix, turned=matrix.T)
    monkeypatch.setattr(weight_scan, "TRANSPOSED_ELEMENTS", 17)
    assert scanned(tmp_path, a=matrix, turned=matrix.T) == whole


def test_the_slowdown_of_denormals_is_measured_where_there_are_any(tmp_path: Path) -> None:
    sound, ill = np.ones(1000, np.float32), np.full(1000, 1e-39, np.float32)
    for array, known in ((sound, False), (ill, True)):
        scanned(tmp_path, w=array)
        slowdown = weight_scan.run(str(tmp_path / "weights.onnx"))["denormal_slowdown"]
        assert (slowdown is not None) is known
        assert not known or slowdown > 0


def test_complex_weights_are_counted_and_told_apart(tmp_path: Path) -> None:
    wide = RANDOM.standard_normal((20, 30)) + 1j
    rows = scanned(tmp_path, wide=wide, same=wide, narrow=wide.astype(np.complex64))
    assert [row["size_bytes"] for row in rows.values()] == [9600, 9600, 4800]
    assert rows["wide"]["sha1"] == rows["same"]["sha1"] != rows["narrow"]["sha1"]


def test_small_constants_and_texts_are_no_weights(tmp_path: Path) -> None:
    texts = np.array(["a"] * 500, dtype=object)
    assert scanned(tmp_path, small=np.zeros(10, np.float32), texts=texts) == {}
