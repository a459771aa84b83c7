"""Workers that crash, hang, are killed, or talk too much: a record each, and nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.conftest import is_worker
from tests.core.models import tiny
from tests.core.worker.harness import (
    case_for,
    endless_loop,
    function_bomb,
    interpreter,
    load_plan,
    mlp_feed,
    one_round,
    started,
)
from workbench.core.errors import Cancelled, RunFailed, WorkerError
from workbench.core.measure.limits import Limits
from workbench.core.worker.launch import Worker

needs_signals = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")


def worker_pids() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True) if is_worker(child)}


@pytest.fixture(autouse=True)
def none_left() -> object:
    yield
    assert worker_pids() == set()


def when_running(action: Callable[[int], None]) -> threading.Thread:
    """Do something to a worker as soon as it has loaded onnxruntime and burns CPU in an endless run."""

    def wait_and_act() -> None:
        while True:
            for pid in worker_pids():
                try:
                    if psutil.Process(pid).cpu_times().user > 1.0:
                        action(pid)
                        return
                except psutil.NoSuchProcess:
                    continue

    thread = threading.Thread(target=wait_and_act, daemon=True)
    thread.start()
    return thread


@pytest.mark.real
@needs_signals
@pytest.mark.parametrize(
    ("killer", "says"),
    [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGABRT, "SIGABRT"), (signal.SIGKILL, "want of memory")],
)
def test_a_worker_that_dies_in_a_run_is_a_record(tmp_path: Path, killer: signal.Signals, says: str) -> None:
    """SIGKILL is what the system's memory killer sends."""
    case = case_for(tmp_path, endless_loop(), {"x": np.ones(1, np.float32)})
    thread = when_running(lambda pid: os.kill(pid, killer))
    (outcome,) = one_round(case)
    thread.join()
    assert outcome.record is None
    assert outcome.failure is not None
    assert outcome.failure.stage == "first run"
    assert says in outcome.failure.problem
    assert outcome.failure.fix


@pytest.mark.real
@needs_signals
def test_ort_aborting_by_itself_is_a_record(tmp_path: Path) -> None:
    """This entry with no number makes ORT abort the process; our rules refuse it, a raw plan does not."""
    plan = load_plan()
    plan["entries"] = {"mlas.nchwc_pointwise_conv_max_input_channel_batch": "many"}
    feed = {"pixel_values": np.ones((1, 3, 32, 32), np.float32)}
    proto = tiny.conv_net()
    name = proto.graph.input[0].name
    shape = [dim.dim_value or 1 for dim in proto.graph.input[0].type.tensor_type.shape.dim]
    feed = {name: np.ones(shape, np.float32)}
    good, bad = one_round(case_for(tmp_path, proto, feed, plans=(load_plan(), plan)))
    assert good.record is not None
    assert bad.failure is not None
    assert bad.failure.stage == "load"
    assert "SIGABRT" in bad.failure.problem


@pytest.mark.real
def test_a_hang_in_a_run_is_a_record(tmp_path: Path) -> None:
    case = case_for(tmp_path, endless_loop(), {"x": np.ones(1, np.float32)}, limits=Limits(run_s=1.5))
    (outcome,) = one_round(case)
    assert outcome.failure is not None
    assert outcome.failure.stage == "first run"
    assert "no answer within 1.5 s" in outcome.failure.problem
    assert "run_s" in outcome.failure.fix


@pytest.mark.real
def test_a_hang_in_load_is_a_record(tmp_path: Path) -> None:
    case = case_for(tmp_path, function_bomb(), {"x": np.ones(1, np.float32)}, limits=Limits(load_s=1.5))
    (outcome,) = one_round(case)
    assert outcome.failure is not None
    assert outcome.failure.stage == "load"
    assert "load_s" in outcome.failure.fix


@pytest.mark.real
@needs_signals
def test_megabytes_on_stderr_are_kept_short(tmp_path: Path) -> None:
    shout = interpreter(
        tmp_path, 'head -c 30000000 /dev/zero | tr \'\\0\' x >&2; echo LAST >&2; exec "$PYTHON" "$@"'
    )
    (outcome,) = one_round(case_for(tmp_path, tiny.mlp(), mlp_feed(), python=shout))
    assert outcome.failure is None
    assert outcome.record is not None
    assert len(outcome.log_text) < 2 << 20
    assert "bytes left out" in outcome.log_text
    assert "LAST" in outcome.log_text


@pytest.mark.real
@needs_signals
def test_a_worker_that_exits_by_itself_is_a_record_with_its_last_words(tmp_path: Path) -> None:
    quitter = interpreter(tmp_path, "echo I have had enough >&2; exit 7")
    (outcome,) = one_round(case_for(tmp_path, tiny.mlp(), mlp_feed(), python=quitter))
    assert outcome.failure is not None
    assert outcome.failure.stage == "start"
    assert "exit code 7" in outcome.failure.problem
    assert "had enough" in outcome.failure.log_tail


@pytest.mark.real
@needs_signals
def test_a_worker_that_answers_nonsense_is_a_record(tmp_path: Path) -> None:
    liar = interpreter(tmp_path, "echo this is no frame at all, but long enough to be read as one; sleep 600")
    (outcome,) = one_round(case_for(tmp_path, tiny.mlp(), mlp_feed(), python=liar))
    assert outcome.failure is not None
    assert outcome.failure.stage == "start"


@pytest.mark.real
def test_an_interpreter_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match="could not be started"):
        Worker(tmp_path, name="W", python=str(tmp_path / "nowhere"))


@pytest.mark.real
def test_cancel_from_another_thread_ends_an_endless_run(tmp_path: Path) -> None:
    cancel = threading.Event()
    case = case_for(tmp_path, endless_loop(), {"x": np.ones(1, np.float32)})
    thread = when_running(lambda _: cancel.set())
    with pytest.raises(Cancelled):
        one_round(case, cancel=cancel)
    thread.join()
    assert worker_pids() == set()


@pytest.mark.real
def test_a_frozen_worker_is_closed_too(tmp_path: Path) -> None:
    worker = started(tmp_path)
    worker.freeze()
    worker.close()
    assert not psutil.pid_exists(worker.pid)


@pytest.mark.real
@needs_signals
@pytest.mark.parametrize("frozen", [False, True])
def test_workers_die_with_a_killed_parent(tmp_path: Path, frozen: bool) -> None:
    script = textwrap.dedent(
        f"""
        import sys, time
        from pathlib import Path
        from workbench.core.worker.launch import Worker
        worker = Worker(Path({str(tmp_path)!r}), name="W")
        worker.hello(timeout_s=60)
        if {frozen}:
            worker.freeze()
        print(worker.pid, flush=True)
        time.sleep(600)
        """
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    gone, alive = psutil.wait_procs([child], timeout=60)
    assert not alive
    assert gone


@pytest.mark.real
@needs_signals
@pytest.mark.slow
def test_ctrl_c_in_the_middle_leaves_no_process(tmp_path: Path) -> None:
    model = tiny.save(endless_loop(), tmp_path)
    script = textwrap.dedent(
        f"""
        import numpy, signal, workbench as wb
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
        wb.compare({str(model)!r}, wb.Config(), wb.Config(intra_op_threads=1),
                   inputs={{"x": numpy.ones(1, numpy.float32)}}, progress=False)
        """
    )
    kernel = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    children: list[psutil.Process] = []
    while not any(child.is_running() and child.cpu_times().user > 1.0 for child in children):
        assert kernel.poll() is None
        children = psutil.Process(kernel.pid).children(recursive=True)
    kernel.send_signal(signal.SIGINT)
    _, errors = kernel.communicate()
    assert "KeyboardInterrupt" in errors
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="Linux's memory killer")
def test_the_memory_killer_would_take_the_worker_first(tmp_path: Path) -> None:
    with started(tmp_path) as worker:
        ours = int(Path("/proc/self/oom_score_adj").read_text())
        assert int(Path(f"/proc/{worker.pid}/oom_score_adj").read_text()) == 1000 > ours


@pytest.mark.real
def test_what_ort_refuses_comes_back_translated(tmp_path: Path) -> None:
    junk = tmp_path / "junk.onnx"
    junk.write_bytes(b"\x08\x0a" + b"\xff" * 50)
    with started(tmp_path) as worker, pytest.raises(RunFailed) as caught:
        worker.request("load", {"model": str(junk), "plan": load_plan()}, stage="load", timeout_s=60)
    assert "damaged" in caught.value.fix


@pytest.mark.real
@needs_signals
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("can't start new thread")])
def test_a_worker_whose_start_is_interrupted_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def interrupted(_: threading.Thread) -> None:
        raise error

    before = set(psutil.Process().children())
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises((KeyboardInterrupt, WorkerError)):
        Worker(tmp_path, name="W")
    assert set(psutil.Process().children()) <= before


@pytest.mark.real
@needs_signals
def test_helpers_of_a_wrapped_interpreter_die_with_it(tmp_path: Path) -> None:
    told = tmp_path / "helper"
    wrapped = interpreter(tmp_path, f'sleep 600 & echo $! > {told}; exec "$PYTHON" "$@"')
    with started(tmp_path, python=wrapped):
        helper = psutil.Process(int(told.read_text()))
    _, alive = psutil.wait_procs([helper], timeout=60)
    assert not alive


@pytest.mark.real
@needs_signals
def test_a_pipe_that_somebody_else_holds_does_not_hold_up_the_closing(tmp_path: Path) -> None:
    told = tmp_path / "holder"
    away = "import os, time; os.setsid(); time.sleep(600)"
    wrapped = interpreter(tmp_path, f'"$PYTHON" -c "{away}" & echo $! > {told}; exec "$PYTHON" "$@"')
    worker = started(tmp_path, python=wrapped)
    holder = psutil.Process(int(told.read_text()))
    while os.getsid(holder.pid) != holder.pid:
        assert holder.is_running()
    worker.close()
    assert not psutil.pid_exists(worker.pid)
    holder.kill()


@pytest.mark.real
def test_the_log_is_checked_also_when_answers_come_fast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(tmp_path) as worker:
        monkeypatch.setattr("workbench.core.worker.launch.ANSWER_POLL_S", 600)
        monkeypatch.setattr("workbench.core.worker.launch.MAX_LOG_BYTES", 4)
        worker.log_path.write_text("chatter")
        with pytest.raises(WorkerError, match="printed more than"):
            worker.request("call", {"job": "probe", "arguments": {}}, stage="probe", timeout_s=60)


@pytest.mark.real
def test_the_log_file_goes_with_its_worker_and_its_text_stays(tmp_path: Path) -> None:
    worker = started(tmp_path)
    worker.log_path.write_text("last words")
    worker.close()
    assert not worker.log_path.exists()
    assert worker.log_text() == "last words"
