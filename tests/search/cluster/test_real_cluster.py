"""Studies on a real cluster of processes: a scheduler, and workers that are killed in the middle."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest

import workbench as wb
from tests.models import tiny
from workbench.cli import main
from workbench.search.cluster.connection import connected

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
        model, ["small"], client, space=wb.Space.of(level=("disabled",)), budget_s=20.0, progress=False
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


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, str]:
    """The options of a certificate that is its own authority, as Dask's programs and ours take them."""
    if shutil.which("openssl") is None and os.environ.get("CI"):
        pytest.fail("openssl is not installed: .ci/run installs it")
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificates, is not installed")
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    made = [*("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"), "-subj", "/CN=test"]
    subprocess.run([*made, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return {"ca": cert, "cert": cert, "key": key}


def address_in(file: Path, scheduler: subprocess.Popen[bytes]) -> str:
    """Wait until the scheduler has written its file; return the address in it."""
    while scheduler.poll() is None:
        with suppress(OSError, ValueError):  # not there, or half written
            return str(json.loads(file.read_text())["address"])
        threading.Event().wait(0.1)
    pytest.fail("the scheduler ended")


def test_the_command_tunes_on_a_cluster_with_tls(
    tmp_path: Path, certificate: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    model, file = tiny.save(tiny.mlp(), tmp_path), tmp_path / "scheduler.json"
    theirs = ["--tls-ca-file", certificate["ca"]]
    theirs += [*("--tls-cert", certificate["cert"]), *("--tls-key", certificate["key"])]
    options = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard", *theirs]
    program = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*program, "distributed.cli.dask_scheduler", "--port", "0", *options], start_new_session=True
    )
    worker = subprocess.Popen(
        [
            *(*program, "distributed.cli.dask_worker", *options),
            *("--nthreads", "1", "--no-nanny", "--resources", "measuring=1 edge=1"),
        ],
        start_new_session=True,
    )
    try:
        address = address_in(file, scheduler)
        assert address.startswith("tls://")
        configured = {
            "distributed.comm.tls.ca-file": certificate["ca"],
            "distributed.comm.tls.client.cert": certificate["cert"],
            "distributed.comm.tls.client.key": certificate["key"],
        }
        with dask.config.set(configured), connected(address, timeout_s=60.0) as client:
            client.wait_for_workers(1, timeout=60)
        ours = ["--tls-ca", certificate["ca"], "--tls-cert", certificate["cert"]]
        ours += ["--tls-key", certificate["key"]]
        asked = ["--cluster", address, *ours, "--target", "edge", "--budget", "20"]
        assert main(["tune", str(model), *asked]) == 0
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    assert "edge: " in capsys.readouterr().out
