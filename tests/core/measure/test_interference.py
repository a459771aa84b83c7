"""The scheduler's figures of everything else on the machine."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.core.measure.interference import (
    LoadReading,
    LoadWatch,
    others_cpu_s,
    sees_all_processes,
    threads_of,
)

linux = pytest.mark.skipif(not sees_all_processes(), reason="Linux's schedstat, outside of containers")


def test_only_what_is_not_ours_counts() -> None:
    before = LoadReading(0.0, {1: 100, 2: 100, 3: 100})
    after = LoadReading(1.0, {1: 100, 2: 600, 3: 900})
    assert others_cpu_s(before, after, frozenset({3})) == pytest.approx(500e-9)


def test_a_thread_born_meanwhile_counts_whole_and_one_found_late_does_not() -> None:
    before = LoadReading(0.0, {5: 0, 9: 0})
    after = LoadReading(1.0, {5: 0, 9: 0, 12: 700, 7: 10**9})
    assert others_cpu_s(before, after, frozenset()) == pytest.approx(700e-9)


def test_a_thread_that_ended_takes_nothing_back() -> None:
    assert others_cpu_s(LoadReading(0.0, {1: 500}), LoadReading(1.0, {}), frozenset()) == 0.0


def test_the_newest_thread_is_looked_for_once_and_not_for_every_thread() -> None:
    class CountingDict(dict[int, int]):
        walks = 0

        def __iter__(self) -> Iterator[int]:
            self.walks += 1
            return super().__iter__()

    before = CountingDict({1: 0, 2: 0})
    after = LoadReading(1.0, dict.fromkeys(range(1, 12), 100))
    assert others_cpu_s(LoadReading(0.0, before), after, frozenset()) == pytest.approx(1100e-9)
    assert before.walks == 1


def test_unknown_stays_unknown() -> None:
    assert others_cpu_s(None, LoadReading(0.0, {}), frozenset()) is None


@linux
def test_a_busy_process_is_seen_also_when_it_is_new() -> None:
    watch = LoadWatch()
    before = watch.read()
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        while (
            spent := others_cpu_s(before, after := watch.read(), frozenset())
        ) is not None and spent < 0.05:
            assert after is not None
        assert spent is not None
        assert spent >= 0.05
    finally:
        busy.kill()
        busy.wait()
        watch.close()


@linux
def test_a_watch_keeps_a_bounded_number_of_files_open_and_closes_them() -> None:
    files = Path("/proc/self/fd")
    open_before = len(list(files.iterdir()))
    watch = LoadWatch()
    assert watch.read() is not None
    assert len(list(files.iterdir())) > open_before
    watch.close()
    assert len(list(files.iterdir())) == open_before


@linux
def test_threads_of_a_process() -> None:
    assert os.getpid() in threads_of(os.getpid())
    assert threads_of(2**22 + 1) == frozenset()


@linux
def test_own_time_is_in_a_reading() -> None:
    watch = LoadWatch()
    mine = threads_of(os.getpid())
    before = watch.read()
    start = time.thread_time()
    while time.thread_time() - start < 0.05:
        pass
    after = watch.read()
    watch.close()
    assert before is not None
    assert after is not None
    ours = sum(
        after.cpu_ns[thread] - before.cpu_ns.get(thread, 0) for thread in mine if thread in after.cpu_ns
    )
    assert ours >= 0.03e9


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@linux
def test_without_open_files_a_reading_is_unknown_and_the_kept_ones_are_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    before = open_files()
    watch = LoadWatch()
    assert watch.read() is not None
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", none_left)
        patch.setattr("workbench.core.measure.interference.RELIST_S", -1.0)
        watch.forget(os.getpid())
        assert watch.read() is None
        assert open_files() == before
    assert watch.read() is not None
    watch.close()


@linux
def test_a_file_that_cannot_be_read_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> bytes:
        raise ProcessLookupError

    before = open_files()
    monkeypatch.setattr(os, "pread", ended)
    watch = LoadWatch()
    reading = watch.read()
    assert reading is not None
    assert reading.cpu_ns == {}
    assert open_files() == before


@linux
def test_a_watch_leaves_most_open_files_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (10, 10))
    before = open_files()
    watch = LoadWatch()
    watch.read()
    assert open_files() - before <= 4
    watch.close()
