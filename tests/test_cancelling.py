"""A request to stop reaches every process that a result is made with, and none is left running."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.core.measure.test_interference import linux, open_files
from tests.core.models import tiny
from tests.core.worker.harness import endless_loop
from tests.core.worker.test_survival import when_running, worker_pids
from tests.features.profile.traces import event, node, write
from workbench.core.worker.launch import Worker

ENDLESS_THREADS = [1] * 100_000  # of peaks: more than anyone waits for
SHORT_S = 0.05
ONE = {"x": np.ones(1, np.float32)}
Ask = Callable[[Path, threading.Event], object]

ENDLESS: dict[str, Ask] = {
    "profile": lambda model, cancel: wb.profile(model, inputs=ONE, cancel=cancel, keep=False),
    "memory": lambda model, cancel: wb.memory(model, inputs=ONE, cancel=cancel),
    "memory settings": lambda model, cancel: wb.memory_settings(
        model, inputs=ONE, cancel=cancel, progress=False
    ),
    "cold start": lambda model, cancel: wb.cold_start(model, inputs=ONE, cancel=cancel),
    "roofline": lambda model, cancel: wb.roofline(model, inputs=ONE, cancel=cancel),
    "threads": lambda model, cancel: wb.threads(
        model, most_threads=2, inputs=ONE, cancel=cancel, progress=False
    ),
}
WHOLE: dict[str, Callable[[Path], Callable[[threading.Event], object]]] = {
    "memory": lambda model: lambda cancel: wb.memory(model, cancel=cancel),
    "memory settings": lambda model: (
        lambda cancel: wb.memory_settings(model, budget_s=SHORT_S, cancel=cancel, progress=False)
    ),
    "cold start, prepared": lambda model: (
        lambda cancel: wb.cold_start(model, wb.Config(precision=wb.DynamicInt8()), cancel=cancel)
    ),
    "roofline": lambda model: lambda cancel: wb.roofline(model, budget_s=SHORT_S, cancel=cancel),
    "threads": lambda model: (
        lambda cancel: wb.threads(model, most_threads=2, budget_s=SHORT_S, cancel=cancel, progress=False)
    ),
    "peaks": lambda _: lambda cancel: wb.peaks([1], cancel=cancel),
    "everything of a comparison": lambda model: partial(everything, compared(model)),
}


def compared(model: Path) -> wb.Comparison:
    plain = wb.Config(intra_op_threads=1)
    return wb.compare(model, plain, plain, budget_s=SHORT_S, progress=False, keep=False)


def everything(result: wb.Comparison, cancel: threading.Event) -> object:
    return result.examine(cancel=cancel)


@pytest.fixture(autouse=True)
def none_left() -> object:
    yield
    assert worker_pids() == set()


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("what", ENDLESS)
def test_what_would_never_end_ends_when_it_is_cancelled(what: str, tmp_path: Path) -> None:
    path, cancel = tiny.save(endless_loop(), tmp_path), threading.Event()
    watching = when_running(lambda _: cancel.set())
    with pytest.raises(wb.Cancelled):
        ENDLESS[what](path, cancel)
    watching.join()


@pytest.mark.real
@pytest.mark.slow
def test_peaks_end_when_they_are_cancelled() -> None:
    cancel = threading.Event()

    def cancel_once_a_process_is_there() -> None:
        while not worker_pids():
            pass
        cancel.set()

    watching = threading.Thread(target=cancel_once_a_process_is_there, daemon=True)
    watching.start()
    with pytest.raises(wb.Cancelled):
        wb.peaks(ENDLESS_THREADS, cancel=cancel)
    watching.join()


@pytest.mark.real
@linux
def test_cancelled_peaks_close_every_file_that_they_opened() -> None:
    cancel = threading.Event()
    cancel.set()
    before = open_files()
    with pytest.raises(wb.Cancelled):
        wb.peaks([1], cancel=cancel)
    assert open_files() == before


@pytest.mark.real
def test_the_peaks_of_a_given_profile_can_be_cancelled(tmp_path: Path) -> None:
    run = event("model_run", 0, 9, "Session")
    made = wb.read_profile(write(tmp_path, [node("a", 0, 9), run]))
    cancel = threading.Event()
    cancel.set()
    for ask in (lambda: wb.roofline(made, cancel=cancel), lambda: made.roofline(cancel=cancel)):
        with pytest.raises(wb.Cancelled):
            ask()


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("what", WHOLE)
def test_each_question_to_a_process_can_be_cancelled(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cancel = tiny.save(tiny.mlp(), tmp_path), threading.Event()
    waits: list[tuple[str, Any]] = []
    ask = Worker.wait_for_answer

    def watched(self: Worker, stage: str, timeout_s: float, given: threading.Event | None) -> Any:
        in_background = threading.current_thread() is not threading.main_thread()  # has an event of its own
        waits.append((stage, cancel if in_background and given is not None else given))
        return ask(self, stage, timeout_s, given)

    asked = WHOLE[what](path)
    monkeypatch.setattr(Worker, "wait_for_answer", watched)
    asked(cancel)
    assert waits
    assert [stage for stage, given in waits if given is not cancel] == []


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("what", ["explanation", "profile", "roofline", "cold start"])
def test_a_cancelled_examination_leaves_the_result_as_it_was(what: Any, tmp_path: Path) -> None:
    result, cancel = compared(tiny.save(tiny.mlp(), tmp_path)), threading.Event()
    with pytest.raises(wb.Cancelled):
        result.examine(what, cancel=cancel, on_step=lambda _: cancel.set())
    assert result.parts == ()
