"""Studies in fake seconds."""

from __future__ import annotations

import pytest

from tests.core.measure.fakes import Clock, QuietWatch


@pytest.fixture(autouse=True)
def quiet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the load of the real machine out of fake seconds."""
    if request.node.get_closest_marker("real") is None:
        monkeypatch.setattr("workbench.core.measure.surroundings.LoadWatch", lambda: QuietWatch(Clock()))
