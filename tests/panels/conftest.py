"""A tiny model on disk, and a bench that has it open."""

from __future__ import annotations

from pathlib import Path

import comm
import ipywidgets as W
import pytest

import workbench as wb
from tests.models import tiny


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open widgets without their state: no page listens, and collecting it takes most of a widget's time."""

    def open_without_state(widget: W.Widget) -> None:
        if widget.comm is None:
            widget.comm = comm.create_comm(target_name="jupyter.widget", data={})

    monkeypatch.setattr(W.Widget, "open", open_without_state)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny.save(tiny.mlp(), tmp_path)


@pytest.fixture
def bench(model: Path) -> wb.Workbench:
    made = wb.Workbench()
    made.load(str(model), wait=True)
    made.state.budget_s = 1.0
    return made


def settle(bench: wb.Workbench) -> None:
    """Wait until everything in the background is drawn and shown."""
    bench.background.settle()
    bench.ui.settle()
