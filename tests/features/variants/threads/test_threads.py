"""Words for how nodes share threads, and the knee of made-up curves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.factories.results import scaling, thread_point
from tests.features.profile.traces import event, node, trace_of, wide, write
from workbench.core.config import Config
from workbench.features.profile.calls import read_profile
from workbench.features.profile.profiled_config import sharing_of
from workbench.features.variants.threads import ThreadScalingRecord, thread_configs


def stats(run: int, wait: int = 0, distribute: int = 0, others: tuple[int, ...] = (1,)) -> dict[str, object]:
    main = {"Distribution": distribute, "DistributionEnqueue": 0, "Run": run, "Wait": wait, "WaitRevoke": 0}
    return {"main_thread": main, "sub_threads": {str(i): {"num_run": n} for i, n in enumerate(others)}}


@pytest.mark.parametrize(
    ("statistics", "words"),
    [
        (stats(98), "shared evenly"),
        (stats(60, wait=39), "uneven: the caller waits 39 % of the time for others"),
        (stats(70, distribute=20), "handing out the work takes 20 %: pieces too small"),
        (stats(90, others=(1, 0)), "50 % of the other threads' turns took no work"),
        (stats(20), "most of it lies outside of parallel sections"),
        (stats(90, others=()), "runs on one thread, as configured"),
    ],
)
def test_what_the_statistics_mean(statistics: dict[str, object], words: str, tmp_path: Path) -> None:
    events = [node("a", 0, 100, thread_scheduling_stats=statistics), event("model_run", 0, 100, "Session")]
    (node_sharing,) = sharing_of(read_profile(write(tmp_path, events))).nodes
    assert node_sharing.words == words


@pytest.mark.real
def test_real_statistics_name_the_large_nodes(tmp_path: Path) -> None:
    path = trace_of(wide(), tmp_path, {"x": np.ones((160, 160), np.float32)}, intra_op_num_threads=2)
    frame = sharing_of(read_profile(path)).to_frame()
    assert {"first0", "first1", "first2", "first3"} <= set(frame["node"])
    assert (frame["helpers"] == 1).all()
    assert (frame["run_s"] <= frame["time_s"] * 1.01 + 1e-5).all()


def scaling_with(times: Mapping[int, float]) -> ThreadScalingRecord:
    return scaling(*(thread_point(count, True, time_s) for count, time_s in times.items()))


@pytest.mark.parametrize("most", [0, -1, True, 1.5, 10**9])
def test_a_count_that_cannot_be_is_refused(most: Any) -> None:
    with pytest.raises(wb.ConfigError, match=rf"most_threads={most} is no"):
        wb.threads("digits-conv", most_threads=most)


def test_counts_double_up_to_the_most() -> None:
    configs = thread_configs(Config(level="all"), 6)
    assert [config.intra_op_threads for config in configs] == [1, 2, 4, 6] * 2
    assert {config.level for config in configs} == {"all"}


def test_the_knee_is_the_fewest_threads_near_the_best() -> None:
    times = {1: 0.010, 2: 0.0052, 4: 0.0050, 8: 0.0070}
    record = scaling_with(times)
    knee = record.knee()
    assert knee is not None
    assert knee.threads == 2
    assert record.knee(spinning=False) is None
    assert str(record).startswith("spinning: 2 threads are enough, 5.2 ms a run")
    assert record.to_frame()["knee"].tolist() == [False, True, False, False]


@given(st.lists(st.floats(1e-6, 10), min_size=1, max_size=8))
def test_no_point_beyond_the_knee_is_much_better(times: list[float]) -> None:
    record = scaling_with(dict(enumerate(times, 1)))
    knee = record.knee()
    assert knee is not None
    assert knee.latency_s is not None
    assert knee.latency_s <= 1.0501 * min(times)
