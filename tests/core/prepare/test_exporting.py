"""What an exported folder of a prepared model holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.core.models import tiny
from workbench.core.prepare.exporting import stacked_examples, write_folder


@pytest.fixture
def model(tmp_path: Path) -> Any:
    return wb.load(tiny.save(tiny.mlp(), tmp_path))


def example(value: float, batch: int = 1) -> dict[str, Any]:
    return {"x": np.full((batch, 4), value, np.float32)}


def test_examples_are_stacked_and_bounded(model: Any) -> None:
    stacked = stacked_examples(model, wb.StaticInt8(samples=2), [example(1.0), example(2.0), example(3.0)])
    assert stacked["x"][:, 0].tolist() == [1.0, 2.0]
    assert stacked_examples(model, wb.StaticInt8(samples=3), "random")["x"].shape == (3, 4)
    assert stacked_examples(model, wb.DynamicInt8(), None) == {}


@pytest.mark.parametrize(
    ("data", "reason"),
    [([example(1.0, batch=2)], "no single array"), (iter([example(1.0)]), "an iterator, which is used up")],
)
def test_examples_that_no_file_can_hold_are_refused(model: Any, data: Any, reason: str) -> None:
    with pytest.raises(wb.ConfigError, match=reason):
        stacked_examples(model, wb.StaticInt8(), data)


def test_an_input_may_be_called_as_an_argument_of_savez(model: Any, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"file": np.ones((2, 3), np.float32), "a/b": np.zeros((2, 1), np.int64)}
    folder = write_folder(tmp_path / "out", model, "print()", arrays)
    with np.load(folder / "calibration.npz") as saved:
        assert set(saved) == set(arrays)
        np.testing.assert_array_equal(saved["file"], arrays["file"])
    assert (folder / "model.onnx").read_bytes() == model.path.read_bytes()
    with pytest.raises(wb.ConfigError, match="exists"):
        write_folder(folder, model, "", {})
