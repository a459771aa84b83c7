"""A command that is stopped in the middle of measuring leaves no process behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.conftest import is_worker
from tests.core.models import tiny

pytestmark = [pytest.mark.real, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]


@pytest.fixture(autouse=True)
def heeds_interrupts() -> Iterator[None]:
    """What a shell starts in the background ignores SIGINT, and so would all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def command(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A comparison that would take minutes, some way into its measuring."""
    model = tiny.save(tiny.mlp(), tmp_path)
    arguments = [sys.executable, "-m", "workbench", "compare", str(model), "--b", "level=disabled"]
    with subprocess.Popen(
        [*arguments, "--budget", "300", "--smallest-effect", "1e-9"], stderr=-1, text=True
    ) as process:
        yield process
        process.kill()


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Waits until there are two."""
    while process.poll() is None:
        workers = [
            child for child in psutil.Process(process.pid).children(recursive=True) if is_worker(child)
        ]
        if len(workers) >= 2:
            return workers
    raise AssertionError("it ended before it measured")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_ends_with_its_workers(command: subprocess.Popen[str], sent: signal.Signals, code: int) -> None:
    workers = workers_of(command)
    command.send_signal(sent)
    assert command.wait() == code
    psutil.wait_procs(workers)
    assert not any(worker.is_running() for worker in workers)


def test_killed_outright_its_workers_die_too(command: subprocess.Popen[str]) -> None:
    workers = workers_of(command)
    command.kill()
    command.wait()
    psutil.wait_procs(workers)
    assert not any(worker.is_running() for worker in workers)
