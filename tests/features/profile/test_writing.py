"""A trace written again says the same, and a long one is cut at the end of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.features.profile.traces import chain, looped, trace_of
from workbench.core.errors import WorkbenchError
from workbench.features.profile.calls import read_profile
from workbench.features.profile.writing import save_trace


@pytest.mark.real
def test_a_trace_written_again_gives_the_same_tables(tmp_path: Path) -> None:
    first = read_profile(trace_of(looped(3), tmp_path, {"x": np.ones((8, 8), np.float32)}, runs=4))
    again = read_profile(first.save_trace(tmp_path / "again.json"))
    assert again.to_frame().equals(first.to_frame())
    assert again.trace.calls == first.trace.calls
    assert again.trace.complete


@pytest.mark.real
def test_a_long_trace_is_cut_at_the_end_of_a_run(tmp_path: Path) -> None:
    whole = read_profile(trace_of(chain(), tmp_path, {"x": np.ones((2, 16), np.float32)}, runs=6))
    part = read_profile(save_trace(whole.trace, whole.tree, tmp_path / "part.json", most_events=33))
    assert len(part.tree.runs) == 3
    assert part.to_frame()["calls"].tolist() == [1] * 8


@pytest.mark.real
def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    profile = read_profile(trace_of(chain(), tmp_path, {"x": np.ones((2, 16), np.float32)}))
    with pytest.raises(WorkbenchError, match="cannot be written"):
        profile.save_trace(tmp_path / "no" / "folder" / "trace.json")
