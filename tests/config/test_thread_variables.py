"""Variables of ORT that set numbers of threads are named in the scripts of configs that leave them open."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.config.thread_variables import variables_in_effect
from workbench.deployment.session_file import session_file


def test_a_script_names_the_variable_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORT_INTRA_OP_NUM_THREADS", "3\nraise SystemExit")
    script = wb.Config().to_python("model.onnx")
    (line,) = [line for line in script.splitlines() if "ORT_INTRA_OP_NUM_THREADS" in line]
    assert line.startswith("# ORT_INTRA_OP_NUM_THREADS='3\\nraise SystemExit' was in effect")
    assert "ORT_INTRA_OP" not in wb.Config(intra_op_threads=2).to_python("model.onnx")


def test_inter_op_threads_are_open_in_parallel_mode_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORT_INTRA_OP_NUM_THREADS", raising=False)
    monkeypatch.setenv("ORT_INTER_OP_NUM_THREADS", "4")
    parallel, sequential = wb.Config(execution_mode="parallel"), wb.Config(execution_mode="sequential")
    assert variables_in_effect(dict(wb.Config().plan().attributes)) == ()
    assert variables_in_effect(dict(sequential.plan().attributes)) == ()
    assert variables_in_effect(dict(parallel.plan().attributes)) == ("ORT_INTER_OP_NUM_THREADS='4'",)
    given = parallel.replace(inter_op_threads=2)
    assert variables_in_effect(dict(given.plan().attributes)) == ()


def test_the_session_file_of_a_deployment_names_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORT_INTRA_OP_NUM_THREADS", "3")
    text = session_file(wb.Config().plan())
    compile(text, "session.py", "exec")
    assert "# ORT_INTRA_OP_NUM_THREADS='3' was in effect" in text
