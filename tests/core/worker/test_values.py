"""Feeds and outputs survive the trip through a file, whatever ORT takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.core.worker.values import read_values, write_values

DTYPES = ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64")


def there_and_back(folder: Path, value: Any) -> Any:
    write_values(folder / "values", [{"name": value}])
    ((found,),) = [list(feed.values()) for feed in read_values(folder / "values")]
    return found


@given(hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, min_side=0, max_side=4)))
def test_arrays(tmp_path_factory: pytest.TempPathFactory, array: np.ndarray) -> None:
    found = there_and_back(tmp_path_factory.mktemp("values"), array)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_element_types_that_numpy_lacks(tmp_path: Path, name: str) -> None:
    array = np.array([[0, 1], [2, 3]]).astype(getattr(ml_dtypes, name))
    found = there_and_back(tmp_path, array)
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()


def test_strings_sequences_optionals_and_maps(tmp_path: Path) -> None:
    texts = np.array([["a", 'b"<c>'], ["", "ü\n"]], dtype=object)
    assert there_and_back(tmp_path, texts).tolist() == texts.tolist()
    assert there_and_back(tmp_path, None) is None
    assert there_and_back(tmp_path, {1: 2.5, "k": True}) == {1: 2.5, "k": True}
    first, second = there_and_back(tmp_path, [np.arange(3), np.zeros((0, 2), np.float32)])
    assert first.tolist() == [0, 1, 2]
    assert second.shape == (0, 2)


def test_arrays_read_back_are_writable(tmp_path: Path) -> None:
    assert there_and_back(tmp_path, np.arange(3)).flags.writeable


def test_several_feeds_keep_their_order(tmp_path: Path) -> None:
    write_values(tmp_path / "v", [{"x": np.array(n)} for n in range(4)])
    assert [int(feed["x"]) for feed in read_values(tmp_path / "v")] == [0, 1, 2, 3]
