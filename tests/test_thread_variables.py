"""Variables of ORT that set numbers of threads: what a worker reports, and what a script says."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

import workbench as wb
from tests.core.models import tiny
from workbench.core.thread_variables import thread_origins
from workbench.features.deploy.processes import Server
from workbench.features.deploy.session_file import session_file

INTRA, INTER = "ORT_INTRA_OP_NUM_THREADS", "ORT_INTER_OP_NUM_THREADS"


def origins(config: wb.Config, *, obeyed: bool = True) -> tuple[str, ...]:
    return thread_origins(dict(config.plan().attributes), obeyed=obeyed)


def test_inter_op_threads_exist_in_parallel_mode_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(INTRA, raising=False)
    monkeypatch.setenv(INTER, "4")
    parallel, sequential = wb.Config(execution_mode="parallel"), wb.Config(execution_mode="sequential")
    assert origins(wb.Config()) == origins(sequential) == ("ORT's default",)
    assert origins(parallel) == ("ORT's default", f"{INTER}=4")
    assert origins(parallel.replace(inter_op_threads=2)) == ("ORT's default", "config")


def test_an_ort_that_reads_no_variable_takes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INTRA, "3")
    assert origins(wb.Config()) == (f"{INTRA}=3",)
    assert origins(wb.Config(), obeyed=False) == ("ORT's default",)


@pytest.mark.parametrize("value", ["", "0", "000"])
def test_zero_leaves_the_number_to_ort(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INTRA, value)
    assert origins(wb.Config()) == ("ORT's default",)


def test_a_value_is_printable_and_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INTRA, "\x1b[31m\n" + "3" * 5000)
    (origin,) = origins(wb.Config())
    assert origin.isprintable()
    assert len(origin) < 200


def test_a_script_names_the_variable_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INTRA, "3\nraise SystemExit")
    script = wb.Config().to_python("model.onnx")
    (line,) = [line for line in script.splitlines() if INTRA in line]
    assert line.startswith(f"# {INTRA}=3\\nraise SystemExit was set here")
    assert "ONNX Runtime 1.29 and newer obeys it" in line
    assert "ORT_INTRA_OP" not in wb.Config(intra_op_threads=2).to_python("model.onnx")


def test_the_session_file_of_a_deployment_names_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INTRA, "3")
    text = session_file(wb.Config().plan())
    compile(text, "session.py", "exec")
    assert f"# {INTRA}=3 was set" in text


@pytest.mark.slow
@pytest.mark.real
def test_a_measurement_and_a_load_test_say_where_the_threads_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(INTRA, "3")
    model = tiny.save(tiny.mlp(), tmp_path)
    measured = wb.measure(model, budget_s=1, progress=False, keep=False)
    assert (measured.run.threads, measured.run.threads_from) == (3, (f"{INTRA}=3",))
    assert f"from the environment: {INTRA}=3" in str(measured)
    given = wb.Config(intra_op_threads=1)
    loaded = wb.load_test(model, wb.Config(), given, callers=1, duration_s=1, progress=False, keep=False)
    assert [run.threads_from for run in loaded.record.runs] == [(f"{INTRA}=3",), ("config",)]
    assert loaded.record.notes[0] == f"ORT takes the threads of A from the environment: {INTRA}=3"
    assert f"{INTRA}=3" in str(loaded)
    saved = wb.open(loaded.save(tmp_path / "load.ortbench"))
    assert saved.record.runs[0].threads_from == (f"{INTRA}=3",)


@pytest.mark.real
def test_a_deployment_may_leave_its_threads_to_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(INTRA, raising=False)
    model = tiny.save(tiny.mlp(), tmp_path)
    config = wb.Config(intra_op_threads=2)
    wb.deploy(model, config, tmp_path / "open", threads_from_environment=True)
    text = (tmp_path / "open" / "session.py").read_text("utf-8")
    assert "intra_op_num_threads" not in text
    compile(text, "session.py", "exec")
    assert text.index(f'os.environ.setdefault("{INTRA}", "2")') < text.index("import onnxruntime")
    wb.deploy(model, config, tmp_path / "fixed")
    assert "intra_op_num_threads = 2" in (tmp_path / "fixed" / "session.py").read_text("utf-8")
    with pytest.raises(wb.WorkbenchError, match="Triton sets the threads"):
        wb.deploy(model, config, tmp_path / "triton", "triton", threads_from_environment=True)


def threads_of_server(folder: Path, log: Path) -> int:
    """Start the server of a deployment as its user would, and count the threads of its process."""
    with Server(folder, log) as server:
        server.wait_until_ready()
        return psutil.Process(server.pid).num_threads()


@pytest.mark.real
def test_a_server_has_the_threads_of_the_variable_that_it_is_started_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, config = tiny.save(tiny.mlp(), tmp_path), wb.Config(intra_op_threads=2)
    wb.deploy(model, config, tmp_path / "open", threads_from_environment=True)
    wb.deploy(model, config, tmp_path / "fixed")
    counts = {}
    for folder, value in (("open", "1"), ("open", None), ("open", "5"), ("fixed", "5")):
        monkeypatch.delenv(INTRA, raising=False)
        if value is not None:
            monkeypatch.setenv(INTRA, value)
        counts[folder, value] = threads_of_server(tmp_path / folder, tmp_path / "log")
    one = counts.pop(("open", "1"))
    more = {which: count - one for which, count in counts.items()}
    assert more == {("open", None): 1, ("open", "5"): 4, ("fixed", "5"): 1}


@pytest.mark.real
def test_a_server_in_parallel_mode_has_the_inter_op_threads_of_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(INTRA, "1")
    config = wb.Config(execution_mode="parallel", inter_op_threads=2)
    wb.deploy(tiny.save(tiny.mlp(), tmp_path), config, tmp_path / "open", threads_from_environment=True)
    counts = []
    for value in ("2", "5"):
        monkeypatch.setenv(INTER, value)
        counts.append(threads_of_server(tmp_path / "open", tmp_path / "log"))
    assert counts[1] - counts[0] == 3
