"""A tiny model on disk, and a bench that has it open."""

from __future__ import annotations

from functools import cache
from itertools import count
from pathlib import Path
from threading import Event

import comm
import ipywidgets as W
import pytest

import workbench as wb
from tests.apps.widgets import buttons
from tests.core.models import tiny
from workbench.apps.panels.knobs import environments
from workbench.apps.panels.tabs.answer import AnswerPlace
from workbench.apps.panels.tabs.form import FormLine
from workbench.apps.panels.tabs.tab import TabPage
from workbench.apps.panels.task_thread import TaskThread
from workbench.features.doctor.engines import Environment, read_environment

NUMBERS = count()


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open widgets without their state: no page listens, and collecting it takes most of a widget's time."""

    def open_without_state(widget: W.Widget) -> None:
        if widget.comm is None:
            name = f"widget {next(NUMBERS)}"
            widget.comm = comm.create_comm(target_name="jupyter.widget", data={}, comm_id=name)

    monkeypatch.setattr(W.Widget, "open", open_without_state)


@cache
def here() -> Environment:
    """Return this environment, whose packages stay."""
    return read_environment(None)


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the packages of this environment once, though every bench asks for them."""

    def read(runtime: str | None) -> Environment:
        return here() if runtime is None else read_environment(runtime)

    monkeypatch.setattr(environments, "read_environment", read)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny.save(tiny.mlp(), tmp_path)


@pytest.fixture
def bench(model: Path) -> wb.Workbench:
    made = wb.Workbench()
    made.load(str(model), wait=True)
    made.state.budget_s = 0.2
    return made


def settle(bench: wb.Workbench) -> None:
    """Wait until everything in the background is drawn and shown."""
    drain(bench.background)
    drain(bench.ui)


def steps_of(place: AnswerPlace) -> dict[str, W.Button]:
    """Return the next steps that are offered, by their labels."""
    return buttons(place.nexts)


def line_of(page: TabPage, kind: str) -> FormLine:
    """Return the line of a kind of result in a view."""
    return page.line(next(offer for offer in page.tab.offers if offer.name == kind))


def drain(thread: TaskThread) -> None:
    """Wait until every task that was posted so far has run."""
    done = Event()
    thread.post(done.set)
    done.wait()
