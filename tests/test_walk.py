"""The way of a level from a click to ONNX Runtime is the one that CONTRIBUTING lists."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import CodeType
from typing import Any

import onnxruntime
import pytest

import workbench as wb
from tests.core.models import tiny
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.jobs import Jobs
from workbench.core.worker import session
from workbench.core.worker.launch import Worker
from workbench.core.worker.session_host import SessionHost

STEP = re.compile(r"^\d+\. `([\w.]+)`", re.MULTILINE)
MOST_HOPS = 16


def steps_below(outermost: CodeType, last: str) -> list[str]:
    """Return the functions that run inside `outermost`, and `last`, which the caller stands in for."""
    names = [last]
    frame = inspect.stack(0)[2].frame
    while frame.f_code is not outermost:
        function = frame.f_code.co_qualname.partition(".<locals>")[0]
        names.append(f"{frame.f_globals['__name__'].removeprefix('workbench.')}.{function}")
        assert frame.f_back is not None
        frame = frame.f_back
    return names[::-1]


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_a_level_takes_the_way_that_contributing_lists(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sent: list[tuple[dict[str, Any], list[str]]] = []
    request, session_options = Worker.request, session.session_options

    def watched_request(worker: Worker, kind: str, body: dict[str, Any], **options: Any) -> Any:
        if kind == "load" and body["plan"]["attributes"]:
            sent.append((body, steps_below(Jobs.run.__code__, "core.worker.launch.Worker.request")))
        return request(worker, kind, body, **options)

    monkeypatch.setattr(Worker, "request", watched_request)
    bench = Bench()
    bench.load(tiny.save(tiny.mlp(), tmp_path), wait=True)
    bench.b = wb.Config(level="basic")
    bench.state.budget_s = 0.1
    bench.compare(wait=True)
    body, in_parent = sent[0]

    in_child: list[str] = []

    def child() -> None:
        SessionHost().do_load(**body)

    def watched_options(plan: dict[str, Any]) -> Any:
        in_child.extend(steps_below(child.__code__, "core.worker.session.session_options"))
        options = session_options(plan)
        assert options.graph_optimization_level == onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        return options

    monkeypatch.setattr(session, "session_options", watched_options)
    child()

    text = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = STEP.findall(text)
    assert [*in_parent, *in_child] == listed
    assert len(listed) - 1 <= MOST_HOPS
