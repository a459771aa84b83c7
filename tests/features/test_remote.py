"""`wb.on` with a real cluster of processes: answers, tags, cancel, and everything that is lost."""

from __future__ import annotations

import io
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import distributed
import pytest

import workbench as wb
from tests.core.models import tiny
from tests.factories.comparisons import ordinary
from tests.factories.results import about, peaks, study
from workbench.apps.cli import main
from workbench.core.bundle.bundle import unpack_record
from workbench.features.base.registry import KINDS
from workbench.features.base.result import packed
from workbench.features.remote import calls
from workbench.features.remote.calls import check_address, check_answer
from workbench.features.remote.fleet import FleetAnswer, FleetAnswers
from workbench.features.remote.task import RemoteTask, watch_s

pytestmark = [pytest.mark.real, pytest.mark.slow]

QUICK: dict[str, Any] = {"budget_s": 3.0, "progress": False, "keep": False}
LONG: dict[str, Any] = {"budget_s": 600.0, "keep": False}
LATE_S = 2.0  # that an answer may take to arrive after its measuring ended
TWO = (wb.Config(intra_op_threads=1), wb.Config(level="disabled", intra_op_threads=1))


def started(program: str, *options: str) -> subprocess.Popen[bytes]:
    """Start a process of a cluster on this machine."""
    command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", "s.json", *options]
    return subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--no-dashboard"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


WORKER = ("dask_worker", "--nthreads", "1", "--no-nanny", "--resources", "measuring=1 edge=1")


@pytest.fixture
def client() -> Iterator[Any]:
    """A client of a cluster of one process, which is not started again."""
    processes = {"scheduler": started("dask_scheduler", "--port", "0"), "worker": started(*WORKER)}
    try:
        with distributed.Client(scheduler_file="s.json", timeout=60, set_as_default=False) as connected:
            connected.wait_for_workers(1, timeout=60)
            connected.processes = processes
            yield connected
    finally:
        for process in processes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(tiny.save(tiny.mlp(), tmp_path))


class Started:
    """A progress callback that notes when the measuring has begun, and then calls `then`."""

    def __init__(self, then: Any) -> None:
        self.then, self.doing, self.thread = then, list[str](), threading.Event()

    def __call__(self, progress: Any) -> None:
        self.doing.append(progress.doing)
        if progress.round and not self.thread.is_set():
            self.thread.set()
            self.then()


def test_a_comparison_is_measured_there_and_comes_back_as_a_bundle(client: Any, model: Path) -> None:
    seen = Started(lambda: None)
    inputs = wb.load(model).inputs(seed=3)
    there = wb.on(client, "edge")
    result = there.compare(model, *TWO, inputs=inputs, **{**QUICK, "progress": seen, "keep": True})
    assert isinstance(result, wb.Comparison)
    assert [run.config for run in result.runs] == [*TWO]
    assert all(run.failure is None and run.latency.median_s > 0 for run in result.runs)
    assert result.about.inputs == inputs.record()
    assert wb.history().open(result.about.id).record == result.record
    assert result.measure_more(budget_s=2.0, progress=False).runs[0].failure is None, "the model is attached"
    assert any(doing.startswith("sending ") for doing in seen.doing)
    assert seen.thread.is_set(), "rounds are seen as they come"
    again = Started(lambda: None)
    Path("memory").mkdir()  # of the same name as the objective
    searched = there.tune(
        model, wb.Space.of(level=("disabled",)), "memory",
        **{**QUICK, "budget_s": 30.0, "progress": again},
    )  # fmt: skip
    assert isinstance(searched, wb.Study)
    assert searched.record.objective == "memory"
    assert not any(doing.startswith("sending ") for doing in again.doing), "the worker has kept the model"


def test_a_study_goes_on_here_with_the_data_that_it_had_there(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob, attached = packed(wb.Study(study()), weights=False), dict[str, Any]()
    monkeypatch.setattr(RemoteTask, "run", lambda *_: blob)
    monkeypatch.setattr(calls, "check_answer", lambda *_, **__: None)  # the study is of another model
    monkeypatch.setattr(wb.Study, "attach", lambda *_, **given: attached.update(given))
    data = [{"x": [1.0]}]
    calls.Remote(None, None).tune(model, data=data, seed=3, **QUICK)  # type: ignore[arg-type]
    assert attached == {"data": data}


def test_a_comparison_of_processor_time_answers_about_the_configs_at_one_thread() -> None:
    first, second = ordinary().runs
    runs = replace(first, config=TWO[0]), replace(second, config=TWO[1])
    blob = packed(wb.Comparison(replace(ordinary(), runs=runs)), weights=False)
    bundle = unpack_record(io.BytesIO(blob), KINDS)
    sent = wb.Config(), wb.Config(level="disabled")
    check_answer(bundle, "comparison", None, sent, clock="cpu")
    with pytest.raises(wb.ClusterError, match="other configs than were sent"):
        check_answer(bundle, "comparison", None, sent)
    with pytest.raises(wb.ClusterError, match="other configs than were sent"):
        check_answer(bundle, "comparison", None, sent[::-1], clock="cpu")


def test_what_cannot_be_asked_for_is_said_at_once(client: Any, model: Path, tmp_path: Path) -> None:
    with pytest.raises(wb.ClusterError, match="has the tag 'gpu'; they have 'edge'"):
        wb.on(client, "gpu").compare(model, *TWO, **QUICK)
    with pytest.raises(wb.ConfigError, match="cannot travel"):
        wb.on(client).compare(model, *TWO, inputs=(part for part in "generator"), **QUICK)
    with pytest.raises(wb.ConfigError, match="folder"):
        wb.on(client).compare(model, *TWO, inputs=tmp_path, **QUICK)
    with pytest.raises(AttributeError, match="measures no model"):
        wb.on(client).open  # noqa: B018
    with pytest.raises(wb.WorkbenchError, match="takes tokens"):
        wb.on(client).decode(model, progress=False)
    with pytest.raises(wb.ConfigError, match="no client of"):
        wb.on("tcp://127.0.0.1:1")  # type: ignore[arg-type]


def test_cancel_ends_the_call_and_frees_the_worker(client: Any, model: Path) -> None:
    cancel = threading.Event()
    with pytest.raises(wb.Cancelled):
        wb.on(client).compare(
            model, *TWO, budget_s=600.0, progress=Started(cancel.set), cancel=cancel, keep=False
        )
    assert wb.on(client).measure(model, TWO[0], **QUICK).record.run.failure is None


def test_a_frozen_worker_is_noticed_and_hears_no_cancel_but_the_caller_does(client: Any, model: Path) -> None:
    worker, cancel = client.processes["worker"], threading.Event()

    def freeze() -> None:
        worker.send_signal(signal.SIGSTOP)
        cancel.set()

    with pytest.raises(wb.Cancelled):
        wb.on(client).compare(
            model, *TWO, budget_s=600.0, progress=Started(freeze), cancel=cancel, keep=False
        )
    worker.send_signal(signal.SIGCONT)
    frozen = Started(lambda: worker.send_signal(signal.SIGSTOP))
    with pytest.raises(wb.ClusterError, match="silent"):
        wb.on(client).compare(model, *TWO, **LONG, progress=frozen)


@pytest.mark.parametrize(("lost", "reason"), [("worker", "left the cluster"), ("scheduler", "went away")])
def test_a_worker_or_a_scheduler_that_dies_is_said(client: Any, model: Path, lost: str, reason: str) -> None:
    killed = Started(client.processes[lost].kill)
    with pytest.raises(wb.ClusterError, match=reason):
        wb.on(client).compare(model, *TWO, **LONG, progress=killed)


def test_a_frozen_scheduler_went_away(client: Any, model: Path) -> None:
    frozen = Started(lambda: client.processes["scheduler"].send_signal(signal.SIGSTOP))
    with pytest.raises(wb.ClusterError, match="went away"):
        wb.on(client).compare(model, *TWO, **LONG, progress=frozen)


def test_a_call_that_waits_for_long_asks_the_scheduler_less_often() -> None:
    assert [watch_s(waited_s) for waited_s in (0.0, 10.0, 30.0, 600.0)] == [1.0, 1.0, 3.0, 5.0]


def test_a_poisoned_answer_is_an_error_with_a_fix(client: Any, model: Path) -> None:
    def poison(answer: Any) -> None:
        from workbench.features.remote import on_worker

        on_worker.perform = lambda *_: answer

    ours = replace(ordinary(), model=replace(ordinary().model, sha256=wb.load(model).sha256))
    a, b = (run.config for run in ours.runs)
    answers = {
        "no result": b"PK\x03\x04 no bundle",
        "answered {'no'": {"no": "bytes"},
        "answered None": None,
        "with a 'peaks', not with a comparison": packed(wb.Peaks(peaks(), about()), weights=False),
        "about another model": packed(wb.Comparison(ordinary()), weights=False),
        "about other configs": packed(wb.Comparison(ours), weights=False),
        "no result: .*claims 1,": oversized(packed(wb.Comparison(ours), weights=False)),
    }
    for reason, answer in answers.items():
        client.run(poison, answer)
        with pytest.raises(wb.ClusterError, match=reason) as caught:
            wb.on(client).compare(model, *TWO, **QUICK)
        assert caught.value.fix
    client.run(poison, packed(wb.Comparison(ours), weights=False))
    assert wb.on(client).compare(model, a, b, **QUICK).record == ours


def oversized(blob: bytes) -> bytes:
    """Return a bundle whose record claims more than a gigabyte."""
    with zipfile.ZipFile(io.BytesIO(blob)) as whole:
        info = whole.getinfo("record.json")
    start = blob.index(b"PK\x01\x02", blob.rindex(info.filename.encode()) - 46)
    return blob[: start + 24] + (1_500_000_000).to_bytes(4, "little") + blob[start + 28 :]


def test_every_model_on_every_target_in_one_call(client: Any, model: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy(model, tmp_path / "other.onnx"))
    done = list[str]()
    fleet = wb.on(client).every([model, other], ["edge", "none"])
    answers = fleet.measure(TWO[0], **{**QUICK, "progress": lambda progress: done.append(progress.doing)})
    names = [wb.load(path).name for path in (model, other)]
    frame = answers.to_frame()
    assert [*zip(frame["model"], frame["target"], strict=True)] == [
        (a, b) for a in names for b in ("edge", "none")
    ]
    assert answers[names[0], "edge"].record.run.failure is None
    assert list(frame["failure"].notna()) == [False, True, False, True], [*frame["failure"]]
    with pytest.raises(wb.ClusterError, match="has the tag 'none'"):
        answers[names[1], "none"]
    assert done[-1] == "4 of 4 answered"
    assert "2 answered, 2 failed" in str(answers)
    with pytest.raises(AttributeError, match="measures no model"):
        fleet.open  # noqa: B018
    with pytest.raises(wb.ConfigError, match="0 calls"):
        wb.on(client).every([], ["edge"])


def test_a_ratio_of_the_fleet_is_that_of_one_machines_own_comparison() -> None:
    slow = replace(ordinary(), machine=replace(ordinary().machine, cpu="another CPU"))
    answers = FleetAnswers(
        (
            FleetAnswer("m", "edge", wb.Comparison(ordinary()), None),
            FleetAnswer("m", "far", wb.Comparison(slow), None),
        )
    )
    frame = answers.to_frame()
    assert list(frame["ratio"]) == [ordinary().verdict.ratio, slow.verdict.ratio]
    assert frame["cpu"].nunique() == 2


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "tcp://cluster:8786", "ws://10.0.0.1:8786", "ucx://10.1.1.1:1"]
)
def test_a_scheduler_on_the_network_needs_tls(address: str) -> None:
    with pytest.raises(wb.ConfigError, match="without TLS"):
        check_address(address)


@pytest.mark.parametrize(
    "address", ["tls://10.0.0.1:8786", "tcp://127.0.0.1:8786", "tcp://[::1]:1", "inproc://10.0.0.1/7/1"]
)
def test_tls_and_this_machine_are_trusted(address: str) -> None:
    check_address(address)


def test_a_cluster_with_certificates_answers_and_refuses_whoever_has_none(model: Path) -> None:
    security = distributed.Security.temporary()
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, protocol="tls://", security=security,
            dashboard_address=None, resources={"measuring": 1},
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        assert client.scheduler.address.startswith("tls://")
        assert wb.on(client).measure(model, TWO[0], **QUICK).record.run.failure is None
        with (
            pytest.raises(wb.ClusterError, match="no Dask scheduler"),
            calls.connected(client.scheduler.address),
        ):
            pass


def test_a_call_whose_client_died_stops(client: Any, model: Path) -> None:
    code = (
        "import sys, distributed, workbench as wb\n"
        "client = distributed.Client(scheduler_file='s.json', set_as_default=False)\n"
        f"wb.on(client).compare({str(model)!r}, wb.Config(), wb.Config(level='disabled'), budget_s=600.0, "
        "progress=lambda progress: progress.round and print('measuring', flush=True))\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert caller.stdout is not None
    caller.stdout.readline()
    caller.kill()
    caller.wait()
    assert wb.on(client).measure(model, TWO[0], **QUICK).record.run.failure is None


@pytest.mark.parametrize("workers", [1, 2])
def test_two_calls_on_a_machine_take_turns(client: Any, model: Path, workers: int) -> None:
    if workers == 2:
        client.processes["second"] = started(*WORKER)
        client.wait_for_workers(2, timeout=60)

    def measure() -> tuple[float, float]:
        began = list[float]()
        progress = Started(lambda: began.append(time.monotonic()))
        wb.on(client).measure(model, TWO[0], budget_s=4.0, progress=progress, keep=False)
        return began[0], time.monotonic()

    with ThreadPoolExecutor(2) as threads:
        first, second = sorted(future.result() for future in [threads.submit(measure) for _ in range(2)])
    assert second[0] > first[1] - LATE_S


def test_the_command_tunes_there(client: Any, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = ["--cluster", client.scheduler.address, "--target", "edge"]
    assert main(["tune", str(model), *there, "--budget", "15", "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert " measured" in printed  # in the headline, whatever it proves
    assert "config: Config(" in printed
    assert main(["tune", str(model), "--target", "edge"]) == 2
    assert "--target needs a cluster" in capsys.readouterr().err
    assert main(["tune", str(model), "--cluster", "tcp://127.0.0.1:1", "--budget", "5"]) != 0
    assert "no Dask scheduler" in capsys.readouterr().err
