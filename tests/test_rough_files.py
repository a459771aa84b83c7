"""Pipes in place of files, clocks before 1980, times that nobody waited for, files removed meanwhile."""

from __future__ import annotations

import errno
import io
import os
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from workbench.core.models import values
from workbench.core.models.fingerprint import file_sha256
from workbench.core.worker.folder import no_room
from workbench.core.worker.values import read_values, write_values


@pytest.mark.parametrize("field", ["caller_spans_s", "wall_s"])
def test_a_load_test_of_no_time_is_refused(field: str, tmp_path: Path) -> None:
    record = examples.load_test()
    run = record.runs[0]
    part = run.slices[0]
    tiny_s = 5e-324 if field == "wall_s" else (5e-324,) * len(part.caller_spans_s)
    changed = replace(run, slices=(replace(part, **{field: tiny_s}), *run.slices[1:]))  # type: ignore[arg-type]
    result = wb.LoadTest(replace(record, runs=(changed, *record.runs[1:])), examples.about())
    with pytest.raises(wb.WorkbenchError, match="a nanosecond or more"):
        result.save(tmp_path / "one.ortbench")


def test_values_are_written_while_the_clock_is_before_1980(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.localtime", lambda *_: time.gmtime(0))
    file = io.BytesIO()
    write_values(file, [{"x": np.ones(2, np.float32)}])
    assert read_values(file)[0]["x"].tolist() == [1.0, 1.0]


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_pipe_is_no_archive_no_trace_and_no_note(tmp_path: Path, own_home: Path) -> None:
    pipe = tmp_path / "feeds.npz"
    os.mkfifo(pipe)
    path = tiny.save(tiny.mlp(), tmp_path)
    with pytest.raises(wb.WorkbenchError, match="a pipe or a device"):
        wb.load(path).inputs(pipe)
    with pytest.raises(wb.WorkbenchError, match="a pipe or a device"):
        wb.read_profile(pipe)
    os.utime(path, (1, 1))
    digest = file_sha256(path)
    for note in (own_home / "cache" / "hashes").glob("*.json"):
        note.unlink()
        os.mkfifo(note)
    assert file_sha256(path) == digest


def test_too_many_inputs_are_refused_before_one_is_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "MAX_BYTES", 64 << 20)
    inputs = [helper.make_tensor_value_info(f"x{n}", TensorProto.FLOAT, [2 << 20]) for n in range(64)]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("Sum", [value.name for value in inputs], ["y"])
    model = helper.make_model(helper.make_graph([node], "g", inputs, [output]))
    loaded = wb.load(tiny.save(model, tmp_path))
    tracemalloc.start()
    try:
        with pytest.raises(wb.WorkbenchError, match="above the bound"):
            loaded.inputs()
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_file_that_was_removed_is_not_blamed_on_the_home(own_home: Path) -> None:
    folder = own_home / "cache" / "models"
    folder.mkdir(parents=True)
    missing = str(folder / "m.onnx")
    error = no_room(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), missing), "load")
    assert error is not None
    assert "is gone" in error.problem
    assert "workbench clean" in error.fix
    assert "WORKBENCH_HOME" not in str(error)
