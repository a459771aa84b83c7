"""Rounds with real workers on tiny models."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.core.models import tiny
from tests.core.worker.harness import case_for, mlp_feed, one_round
from workbench.core.config import Config
from workbench.core.worker.values import read_values, write_values


@pytest.mark.real
def test_blocks_come_as_cycles_that_mirror_themselves(tmp_path: Path) -> None:
    case = case_for(tmp_path, tiny.mlp(), mlp_feed(), configs=(Config(), Config(), Config()))
    outcomes = one_round(case)
    order: dict[int, str] = {}
    for outcome in outcomes:
        assert outcome.record is not None
        order.update({block.order: outcome.label for block in outcome.record.blocks})
    assert sorted(order) == list(range(len(order)))
    turns = [order[place] for place in sorted(order)]
    cycles = [turns[start : start + 6] for start in range(0, len(turns), 6)]
    assert len(cycles) >= 3
    for cycle in cycles:
        assert sorted(cycle[:3]) == ["A", "B", "C"]
        assert cycle[3:] == cycle[:3][::-1]


@pytest.mark.real
def test_a_record_holds_the_measurements(tmp_path: Path) -> None:
    (outcome,) = one_round(case_for(tmp_path, tiny.mlp(), mlp_feed(), configs=(Config(intra_op_threads=1),)))
    record = outcome.record
    assert record is not None
    assert outcome.providers == ("CPUExecutionProvider",)
    assert outcome.threads == 1
    assert outcome.io == "run"
    assert outcome.versions["onnxruntime"]
    assert record.load_s > 0
    assert record.first_run_s > 0
    assert record.spawn_s > record.import_s > 0
    assert len(record.warmup_s) >= 4
    assert all(len(block.samples_s) >= 3 and block.median_s > 0 for block in record.blocks)
    assert record.peak_rss_bytes is not None
    assert record.rss_start_bytes is not None
    assert record.peak_rss_bytes >= record.rss_start_bytes > 1 << 20


@pytest.mark.real
def test_the_plan_reaches_ort(tmp_path: Path) -> None:
    configs = (Config(intra_op_threads=1), Config(intra_op_threads=3), Config(io_binding=True))
    single, three, bound = one_round(case_for(tmp_path, tiny.mlp(), mlp_feed(), configs=configs))
    assert (single.threads, three.threads) == (1, 3)
    assert (single.io, bound.io) == ("run", "binding")


@pytest.mark.real
@pytest.mark.parametrize("binding", [False, True])
def test_outputs_are_ort_s(tmp_path: Path, binding: bool) -> None:
    import onnxruntime as ort

    proto, feed = tiny.mlp(), mlp_feed()
    (outcome,) = one_round(case_for(tmp_path, proto, feed, configs=(Config(io_binding=binding),)))
    assert outcome.outputs is not None
    (outputs,) = read_values(outcome.outputs)
    session = ort.InferenceSession(proto.SerializeToString())
    for (name, value), expected in zip(outputs.items(), session.run(None, feed), strict=True):
        np.testing.assert_array_equal(value, expected, err_msg=name)


@pytest.mark.real
def test_one_config_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    case = case_for(tmp_path, tiny.mlp(), mlp_feed(), configs=(Config(), Config()))
    first, second = case.candidates
    no_such_level = {"graph_optimization_level": "GraphOptimizationLevel.NONE"}
    second = dataclasses.replace(second, plan={**second.plan, "attributes": no_such_level})
    good, failed = one_round(dataclasses.replace(case, candidates=(first, second)))
    assert good.record is not None
    assert failed.record is None
    assert failed.failure is not None
    assert failed.failure.stage == "load"


@pytest.mark.real
def test_pacing_leaves_pauses_between_runs(tmp_path: Path) -> None:
    case = case_for(tmp_path, tiny.mlp(), mlp_feed(), pacing_s=0.003)
    (outcome,) = one_round(case)
    assert outcome.record is not None
    for block in outcome.record.blocks:
        assert block.wall_s >= 0.003 * len(block.samples_s)
        assert block.wall_s - sum(block.samples_s) >= 0.003 * len(block.samples_s)


@pytest.mark.real
def test_every_block_starts_with_the_first_feed_and_sees_them_all(tmp_path: Path) -> None:
    from workbench.core.worker.session_host import SessionHost

    (candidate,) = case_for(tmp_path, tiny.mlp(), mlp_feed()).candidates
    write_values(candidate.feeds, [mlp_feed(rows) for rows in (1, 2, 3)])
    host = SessionHost()
    host.do_load(str(candidate.model), dict(candidate.plan))
    host.do_first_run(str(candidate.feeds))
    turns: list[int] = []
    for index, call in enumerate(host.calls):
        call.run = lambda index=index: turns.append(index)
    for _ in range(2):
        host.do_block(0.0, 4, 500, None, 0.0)
    assert turns == [0, 1, 2, 0, 1, 2] * 2
