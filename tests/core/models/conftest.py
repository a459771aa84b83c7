"""Every test has its own cache folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.models import values


@pytest.fixture(autouse=True)
def home(own_home: Path) -> Path:
    return own_home


@pytest.fixture
def small_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on generated inputs, small enough to see it at work."""
    monkeypatch.setattr(values, "MAX_BYTES", 4 << 20)
