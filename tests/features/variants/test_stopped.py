"""What a person stopped says so: in its text, its figure, its page."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.core.bundle.comparison import STOPPED, Doubt
from workbench.features.base.measured import Measured
from workbench.features.variants.threads import scaling_of

DOUBT = Doubt(STOPPED, None, "stopped on request, 4 rounds kept", "measure it again")


@pytest.mark.parametrize(
    ("kind", "record"), [(wb.Levels, examples.levels()), (wb.Ablation, examples.ablation())]
)
def test_what_was_stopped_says_so(kind: type[Measured], record: Any) -> None:
    whole = kind(record)
    stopped = kind(replace(record, comparison=replace(record.comparison, doubts=(DOUBT,))))
    assert "topped on request" not in f"{whole}{whole.chart().note}"
    assert str(stopped) == f"{whole}\nStopped on request, 4 rounds kept."
    assert stopped.chart().note == f"stopped on request, 4 rounds kept; {whole.chart().note}"
    assert "stopped on request, 4 rounds kept" in stopped.figure().to_json()
    assert "Stopped on request, 4 rounds kept." in stopped.section("B")


def test_threads_that_were_stopped_say_so() -> None:
    comparison = replace(ordinary(), doubts=(DOUBT,))
    stopped = wb.Threads(scaling_of(comparison))
    assert str(stopped).endswith("\nStopped on request, 4 rounds kept.")
    assert stopped.chart().note.startswith("stopped on request, 4 rounds kept; ")
    assert "topped on request" not in str(wb.Threads(scaling_of(ordinary())))


@pytest.mark.real
def test_memory_settings_keep_what_was_compared_when_their_profiles_are_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancel = threading.Event()

    def cancelled(*arguments: Any, **options: Any) -> wb.Profile:
        cancel.set()
        return wb.profile(*arguments, **options)

    monkeypatch.setattr("workbench.features.variants.memory_settings.profile", cancelled)
    model = tiny.save(tiny.mlp(), tmp_path)
    stopped = wb.memory_settings(model, budget_s=0.1, progress=False, cancel=cancel)
    assert str(stopped).endswith("\nStopped on request, with the arena of 0 of 4 settings known.")
    assert all(row.latency_s is not None and row.arena_held_bytes is None for row in stopped.record.rows)
    assert wb.open(stopped.save(tmp_path / "stopped.ortbench")).stopped == stopped.stopped
