"""Work in a daemon thread: its result, its error, and that leaving or cancelling stops it."""

from __future__ import annotations

import threading

import pytest

from workbench.core.background import in_background
from workbench.core.errors import Cancelled, ModelError


def test_the_result_is_what_the_work_returned() -> None:
    with in_background(lambda _: 3, "three") as three:
        assert three.result() == 3
        assert three.result() == 3


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    def fail(_: threading.Event) -> None:
        raise ModelError("gone", "look for it")

    with in_background(fail, "failing") as failing, pytest.raises(ModelError, match="gone"):
        failing.result()


def test_a_request_to_cancel_ends_the_wait_and_the_work() -> None:
    cancel, stopped = threading.Event(), threading.Event()

    def until_stopped(stop: threading.Event) -> None:
        cancel.set()
        stop.wait()
        stopped.set()

    with (
        pytest.raises(Cancelled),
        in_background(until_stopped, "endless", cancel) as endless,
    ):
        endless.result()
    assert stopped.is_set()


def test_the_thread_delays_no_exit_of_python() -> None:
    def named(_: threading.Event) -> bool:
        return threading.current_thread().daemon

    with in_background(named, "daemon") as daemon:
        assert daemon.result()
