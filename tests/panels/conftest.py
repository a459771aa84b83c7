"""A tiny model on disk, and a bench that has it open."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.models import tiny


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
