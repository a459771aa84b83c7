"""A study that is cancelled ends where it is: nothing further starts, and every finished round is kept."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.features.tune.test_study import PlanWorker, PlanWorld, asked
from workbench.core.background import check_cancel
from workbench.core.measure.limits import Progress
from workbench.core.worker.protocol import Message
from workbench.features.tune.record import StudyRecord
from workbench.features.tune.study import run_study

# More than are enumerated: candidates are prepared after rounds, too.
SPACE = wb.Space.of(intra_op_threads=(1, 2), spinning=(False,), cpu_arena=(False,), memory_pattern=(False,))


class CancelledWorld(PlanWorld):
    """Workers that hear a cancel as real ones do: while they are asked."""

    def start(self, folder: Path, *, name: str, **_: Any) -> Any:
        self.workers.append(name)
        self.run_s.setdefault(name.split("-")[0], 0.001)
        return HearingWorker(self, folder, name, name.split("-")[0])


class HearingWorker(PlanWorker):
    def request(
        self, kind: str, body: dict[str, Any], *, cancel: threading.Event | None = None, **_: Any
    ) -> Message:
        check_cancel(cancel)
        return super().request(kind, body)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("preparing", id="while the next candidate is prepared"),
        pytest.param(": load", id="while a session is made"),
        pytest.param("sampling", id="while a round samples"),
        pytest.param("confirming", id="while the winner is confirmed"),
    ],
)
def test_a_cancelled_study_starts_nothing_more_and_keeps_its_rounds(tmp_path: Path, step: str) -> None:
    world, cancel, kept = CancelledWorld(), threading.Event(), list[StudyRecord]()
    at_cancel: list[tuple[int, int, int]] = []

    def state() -> tuple[int, int, int]:
        return len(world.workers), len(world.plans), len(kept)

    def stop(progress: Progress) -> None:
        if kept and step in progress.doing and not cancel.is_set():
            cancel.set()
            at_cancel.append(state())

    with pytest.raises(wb.Cancelled, match="every finished round is kept in the history"):
        run_study(
            asked(tmp_path, space=SPACE),
            on_progress=stop,
            on_measured=kept.append,
            cancel=cancel,
            clock=world.clock,
            start_worker=world.start,
        )
    assert at_cancel == [state()]
    assert kept[-1].ended == "the study was stopped before it had an answer"
    assert kept[-1].run("A").processes
    assert any(candidate.rounds for candidate in kept[-1].candidates[1:])
