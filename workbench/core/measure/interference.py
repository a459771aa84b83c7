"""The machine use of other programs while a block runs, read from the kernel's scheduler.

Linux reports each thread's CPU time in nanoseconds (`schedstat`, updated at every scheduler tick), so the CPU
time of all other threads is known for windows of a few milliseconds. On other systems it is unknown, and a
doubt reports that.

Blocks that other programs disturbed are detected from these figures alone, never from latency. Waiting for a
core is a disturbance only if other programs worked meanwhile: just after thawing, threads of a worker may
share a core for a scheduler tick although another one is free, and every config has this wait. The limits
tolerate one scheduler tick (4 ms of a block of 20 ms) of a daemon: the typical latency excludes the slowest
quarter of the samples anyway.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from dataclasses import dataclass

RELIST_S = 0.5  # how often to list processes again if no new process id appeared
MAX_THREADS = 3_000  # with more threads a reading takes longer than a block
MAX_OPEN_FILES = 400  # threads whose file stays open
OPEN_FILES_SHARE = 0.4  # share of this process's open-file limit: 409 of the usual 1,024
MAX_RUN_DELAY = 0.20  # share of the block's time that its threads may wait for a core
MAX_RUN_DELAY_BLIND = 0.30  # the same if others are unseen: more than one tick shared with itself
MIN_RUN_DELAY_S = 0.001  # the parent's own wake-ups and kernel threads cost less than this
OTHERS_PER_DELAY = 0.5  # others' CPU time per second waited, below which the worker waited for itself
OTHERS_BASE_SHARE = 0.10  # share of all usable cores: daemons' use when the block needs every core
OTHERS_SPARE_SHARE = 0.15  # plus this share of each core that the block leaves free
_OUT_OF_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_FIRST_NAMESPACE = "pid:[4026531836]"  # the kernel's constant PROC_PID_INIT_INO


@dataclass(frozen=True, slots=True)
class LoadReading:
    """CPU time in nanoseconds by thread id, at one moment."""

    at: float
    cpu_ns: dict[int, int]


def sees_all_processes() -> bool:
    """Return whether /proc lists the whole machine: inside a container it lists the container alone."""
    try:
        return os.readlink("/proc/self/ns/pid") == _FIRST_NAMESPACE  # noqa: PTH115
    except OSError:
        return False


class LoadWatch:
    """A reader of the CPU time of all threads on the machine; open files keep a reading short."""

    def __init__(self) -> None:
        self._files: dict[int, int] = {}
        self._paths: dict[int, str] = {}
        self._listed_at = float("-inf")
        self._newest = ""
        self._max_files = _most_files()
        self.works = sees_all_processes() and os.path.exists("/proc/self/schedstat")  # noqa: PTH110

    def read(self) -> LoadReading | None:
        """Return a reading; None if the system has no figures, too many threads, or too few open files."""
        if not self.works:
            return None
        try:
            return self._read()
        except OSError as error:
            if error.errno not in _OUT_OF_FILES:
                raise
            self._max_files = len(self._files) // 2
            self.close()
            return None

    def _read(self) -> LoadReading | None:
        newest = _newest_process()
        if newest != self._newest or time.perf_counter() - self._listed_at > RELIST_S:
            self._list()
            self._newest = newest
        if len(self._paths) > MAX_THREADS:
            return None
        cpu_ns = {}
        for thread, path in list(self._paths.items()):
            text = self._text(thread, path)
            if text is None:
                self.forget(thread)
            else:
                cpu_ns[thread] = int(text.split(maxsplit=1)[0])
        return LoadReading(time.perf_counter(), cpu_ns)

    def close(self) -> None:
        for thread in self._paths.keys() | self._files.keys():
            self.forget(thread)
        self._newest = ""  # forces a new listing at the next reading

    def _list(self) -> None:
        paths = {}
        for process in os.listdir("/proc"):  # noqa: PTH208
            if process.isdecimal():
                folder = f"/proc/{process}/task"
                try:
                    threads = os.listdir(folder)  # noqa: PTH208
                except OSError as error:
                    _raise_unless_ended(error)
                    continue
                paths.update({int(thread): f"{folder}/{thread}/schedstat" for thread in threads})
        for thread in self._paths.keys() - paths.keys():
            self.forget(thread)
        self._paths = paths
        self._listed_at = time.perf_counter()

    def _text(self, thread: int, path: str) -> bytes | None:
        """Return the text of a thread's schedstat, or None when the thread has ended."""
        try:
            kept = self._files.get(thread)
            if kept is not None:
                return os.pread(kept, 64, 0) or None
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                text = os.pread(file, 64, 0) or None
                if text is not None and len(self._files) < self._max_files:
                    self._files[thread] = file
            finally:
                if thread not in self._files:
                    os.close(file)
        except OSError as error:
            _raise_unless_ended(error)
            return None
        return text

    def forget(self, thread: int) -> None:
        """Leave a thread out until the next listing, and close its file."""
        self._paths.pop(thread, None)
        file = self._files.pop(thread, None)
        if file is not None:
            os.close(file)


def _raise_unless_ended(error: OSError) -> None:
    """Raise if no more files can be opened, since others would be undercounted; ignore an ended thread."""
    if error.errno in _OUT_OF_FILES:
        raise error


def _most_files() -> int:
    if sys.platform != "linux":
        return 0
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = allowed == resource.RLIM_INFINITY
    return MAX_OPEN_FILES if unlimited else min(MAX_OPEN_FILES, int(allowed * OPEN_FILES_SHARE))


def _newest_process() -> str:
    """Return the newest process id, which changes whenever a process or thread starts."""
    with open("/proc/loadavg") as file:  # noqa: PTH123
        return file.read().split()[-1]


def others_cpu_s(before: LoadReading | None, after: LoadReading | None, ours: frozenset[int]) -> float | None:
    """Return the CPU time that all threads but `ours` used between two readings."""
    if before is None or after is None:
        return None
    newest = max(before.cpu_ns, default=0)
    spent = sum(
        cpu - before.cpu_ns.get(thread, 0 if thread > newest else cpu)
        for thread, cpu in after.cpu_ns.items()
        if thread not in ours
    )
    return max(0, spent) / 1e9


def disturbances(
    *,
    wall_s: float,
    window_s: float,
    run_delay_s: float | None,
    others_cpu_s: float | None,
    threads: int | None,
    usable_cores: int,
) -> tuple[str, ...]:
    """Return why the block is disturbed; nothing if it is clean or the system reports no figures.

    `window_s` is the time span of `others_cpu_s`: the block with the thawing and freezing around it.
    """
    causes = []
    busy_threads = threads or usable_cores
    own_crowd = busy_threads > usable_cores  # the threads wait for each other
    share = MAX_RUN_DELAY if others_cpu_s is not None else MAX_RUN_DELAY_BLIND
    if (
        run_delay_s is not None
        and not own_crowd
        and run_delay_s > max(MIN_RUN_DELAY_S, share * wall_s)
        and (others_cpu_s is None or others_cpu_s > OTHERS_PER_DELAY * run_delay_s)
    ):
        causes.append("waited for a core")
    spare = max(0, usable_cores - busy_threads)
    allowed_cores = OTHERS_BASE_SHARE * usable_cores + OTHERS_SPARE_SHARE * spare
    if others_cpu_s is not None and others_cpu_s > window_s * allowed_cores:
        causes.append("others used the machine")
    return tuple(causes)


def threads_of(pid: int) -> frozenset[int]:
    """Return the thread ids of a process and of those it started, or none if the system lists none."""
    threads, waiting = set[int](), [pid]
    while waiting:
        tasks = f"/proc/{waiting.pop()}/task"
        try:
            for thread in os.listdir(tasks):  # noqa: PTH208
                threads.add(int(thread))
                with open(f"{tasks}/{thread}/children") as file:  # noqa: PTH123
                    waiting += map(int, file.read().split())
        except OSError:  # it ended, or the system does not list what a thread started
            continue
    return frozenset(threads)


def steal_s() -> float | None:
    """Return the CPU time that the hypervisor gave to other guests since boot, or None if unknown."""
    if sys.platform != "linux":
        return None
    with open("/proc/stat") as file:  # noqa: PTH123
        fields = file.readline().split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else None
