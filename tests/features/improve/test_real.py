"""Improving within limits and stopping it, on real ONNX Runtime."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import workbench as wb
from tests.features.findings.test_real import convolutions

pytestmark = pytest.mark.real

SLOW = wb.Config(level="disabled")


@pytest.mark.slow
def test_improving_ends_with_a_config_that_was_measured_better_or_the_first_one(tmp_path: Path) -> None:
    better = wb.improve(convolutions(tmp_path / "net.onnx"), SLOW, budget_s=60.0, progress=False, keep=False)
    assert "level-below-all" in [step.finding.id for step in better.steps]
    assert (better.comparison is None) == (better.config == SLOW)
    assert better.search is None or better.search.record.candidates[0].config in (
        SLOW, *(step.finding.fix.config for step in better.steps if step.kept),
    )  # fmt: skip
    opened = wb.open(better.save(tmp_path / "better.ortbench"))
    for option in {path.option for path in opened.foreign_paths}:  # the search may have tried a plugin
        opened.trust(option)
    assert opened.steps == better.steps
    assert str(opened) == str(better)
    assert "SessionOptions" in opened.to_python()


def test_a_limit_that_nothing_keeps_leaves_no_answer_and_is_said(tmp_path: Path) -> None:
    model, limits = convolutions(tmp_path / "net.onnx"), wb.Goal(max_memory_bytes=1 << 20)
    better = wb.improve(model, SLOW, limits, budget_s=15.0, progress=False, keep=False)
    assert (better.comparison, better.config) == (None, SLOW)
    assert better.record.limits == limits
    if better.steps:  # a machine that is busy may have had no time to measure
        assert "No config that was tried keeps the limits" in better.record.ended
        assert "asked for" in better.record.ended


@pytest.mark.slow
def test_a_cancel_after_a_fix_keeps_what_is_proven(tmp_path: Path) -> None:
    cancel, steps = threading.Event(), list[str]()

    def stop(step: str) -> None:
        steps.append(step)
        if steps.count("looking for findings") > 1 or step.startswith("measuring the first"):
            cancel.set()

    better = wb.improve(
        convolutions(tmp_path / "net.onnx"), SLOW, budget_s=60.0, progress=False, keep=False, cancel=cancel,
        on_step=stop,
    )  # fmt: skip
    assert "It was stopped" in better.record.ended
    assert len(better.steps) == 1
    assert better.steps[0].kept == (better.config != SLOW)


@pytest.mark.parametrize("call", [wb.improve, wb.tune])
def test_labels_that_do_not_fit_the_scores_are_refused_before_anything_is_measured(
    call: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session says which shape fits; what comes first in either call must not begin."""
    model = wb.load("digits-conv")
    feeds = [model.inputs(seed=seed).feeds[0] for seed in range(2)]
    for begins in ("improve.request.gather", "tune.call.space_of"):
        monkeypatch.setattr(f"workbench.features.{begins}", lambda *_, **__: pytest.fail("it began"))
    with pytest.raises(
        wb.MetricError, match=r"labels of shape \(1, 5\) do not fit scores of shape \(1, 10\)"
    ):
        call(
            model, data=(feeds, [[0, 1, 2, 3, 4]] * 2), limits=wb.Goal(max_accuracy_drop=0.01),
            progress=False, keep=False,
        )  # fmt: skip
