"""Which blocks are excluded: from the scheduler's figures alone."""

from __future__ import annotations

import pytest

from workbench.core.measure.interference import disturbances


def told(**changes: object) -> tuple[str, ...]:
    figures = {
        "wall_s": 0.020,
        "window_s": changes.get("wall_s", 0.020),
        "run_delay_s": 0.0,
        "others_cpu_s": 0.0,
        "threads": 2,
        "usable_cores": 2,
        **changes,
    }
    return disturbances(**figures)  # type: ignore[arg-type]


def test_a_quiet_block_is_clean() -> None:
    assert told() == ()
    assert told(run_delay_s=0.0005, others_cpu_s=0.001) == ()
    assert told(run_delay_s=0.0035, others_cpu_s=0.0035) == (), "one tick of a daemon"


def test_waiting_for_a_core() -> None:
    assert told(run_delay_s=0.0045, others_cpu_s=0.003) == ("waited for a core",)
    assert told(run_delay_s=0.007, others_cpu_s=None) == ("waited for a core",)


def test_where_others_are_unseen_a_shared_tick_is_no_disturbance() -> None:
    assert told(run_delay_s=0.004, others_cpu_s=None) == ()


def test_threads_that_waited_for_each_other_were_not_disturbed() -> None:
    assert told(run_delay_s=0.004, others_cpu_s=0.0002) == ()


def test_others_at_work() -> None:
    assert told(others_cpu_s=0.020) == ("others used the machine",)


def test_a_spare_core_lets_others_use_a_little_more() -> None:
    assert told(others_cpu_s=0.004, threads=1) == ()
    assert told(others_cpu_s=0.020, threads=1) == ("others used the machine",)
    assert told(others_cpu_s=0.020, threads=4, usable_cores=16) == ()


def test_threads_that_crowd_each_other_are_not_others() -> None:
    assert told(run_delay_s=0.015, threads=8) == ()
    assert told(run_delay_s=0.015, others_cpu_s=0.015, threads=8) == ("others used the machine",)


def test_nothing_known_is_not_disturbed() -> None:
    assert told(run_delay_s=None, others_cpu_s=None, threads=None) == ()


@pytest.mark.parametrize("wall_s", [0.002, 0.02, 1.0])
def test_both_reasons_are_told(wall_s: float) -> None:
    assert len(told(wall_s=wall_s, run_delay_s=wall_s, others_cpu_s=wall_s)) == 2
