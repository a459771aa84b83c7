"""Studies on a real cluster of processes: a scheduler, and workers that are killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest

import workbench as wb
from tests.models import tiny

pytestmark = [pytest.mark.real, pytest.mark.slow]

SPACE = wb.Space.of(level=("basic", "disabled"), intra_op_threads=(1,))


@pytest.fixture
def client() -> Iterator[Any]:
    """A client of a cluster of one process, which starts anew when it is killed."""
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            resources={"measuring": 1, "small": 1},
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


def test_a_study_survives_the_death_of_its_worker(tmp_path: Path, client: Any) -> None:
    model, killed = tiny.save(tiny.mlp(), tmp_path), threading.Event()
    before: list[Any] = []
    earlier = set(wb.history().to_frame()["id"])  # what other tests kept

    def kill_once(_: Any) -> None:
        kept = set(wb.history().to_frame()["id"]) - earlier
        if kept and not killed.is_set():
            killed.set()
            before.append(wb.history().open(kept.pop()).record)
            (pid,) = client.run(os.getpid).values()
            os.kill(pid, signal.SIGKILL)

    study = wb.tune(model, SPACE, budget_s=60.0, client=client, progress=kill_once)
    assert killed.is_set()
    assert study.record.count("measured", "same") == study.record.count("measured", "same", "failed")
    assert study.record.id == before[0].id
    kept = before[0].run("A").processes
    assert study.record.run("A").processes[: len(kept)] == kept
    assert wb.history().open(study.record.id).record == study.record
    studies = wb.tune_targets(
        model, ["small"], client, wb.Space.of(level=("disabled",)), budget_s=20.0, progress=False
    )
    assert list(studies.to_frame()["target"]) == ["small"]


def test_a_scheduler_that_goes_away_leaves_the_rounds_in_the_history(tmp_path: Path) -> None:
    model, file = tiny.save(tiny.mlp(), tmp_path), tmp_path / "scheduler.json"
    loopback = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = subprocess.Popen(
        [
            *(sys.executable, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", file),
            *("--port", "0", *loopback),
        ],
        start_new_session=True,
    )
    worker = subprocess.Popen(
        [
            *(sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", file, *loopback),
            *("--nthreads", "1", "--no-nanny", "--resources", "measuring=1"),
        ],
        start_new_session=True,
    )
    try:
        with distributed.Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            earlier = set(wb.history().to_frame()["id"])  # what other tests kept

            def kill(_: Any) -> None:
                if set(wb.history().to_frame()["id"]) - earlier:
                    scheduler.kill()

            with pytest.raises(wb.ClusterError, match="went away"):
                wb.tune(model, SPACE, budget_s=300.0, client=client, progress=kill)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    (identity,) = set(wb.history().to_frame()["id"]) - earlier
    kept = wb.history().open(identity)
    assert isinstance(kept, wb.Study)
    assert kept.record.selection.runs[0].processes
