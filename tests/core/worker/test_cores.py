"""The core of the calling thread: none that a pool's thread is bound to, and held for this thread alone."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import pytest

from workbench.core.worker.cores import cores_for_calls, hold_to

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a thread to a core here")


@contextmanager
def pool_thread(core: int) -> Iterator[None]:
    """Have a thread that is bound to a core, as those of ONNX Runtime's pool are."""
    bound, ends = threading.Event(), threading.Event()

    def wait() -> None:
        hold_to(core)
        bound.set()
        ends.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    bound.wait()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def test_a_core_of_the_pool_is_left_to_it() -> None:
    """In a process of its own: a session of another test may have a pool here, too."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        fresh.submit(check_that_the_pool_keeps_its_core).result()


def check_that_the_pool_keeps_its_core() -> None:
    allowed = os.sched_getaffinity(0)
    assert set(cores_for_calls()) == allowed
    core = max(allowed)
    with pool_thread(core):
        assert set(cores_for_calls()) == allowed - {core}
    assert os.sched_getaffinity(0) == allowed, "only the thread that asked is held"


def test_a_held_thread_has_no_other_core() -> None:
    allowed = os.sched_getaffinity(0)
    core = min(allowed)
    try:
        hold_to(core)
        assert cores_for_calls() == [core]
    finally:
        os.sched_setaffinity(0, allowed)


def test_a_core_that_the_system_forbids_stops_nothing() -> None:
    allowed = os.sched_getaffinity(0)
    hold_to(max(allowed) + 1000)
    assert os.sched_getaffinity(0) == allowed
