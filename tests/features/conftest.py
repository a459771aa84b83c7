"""A feature that only tests know."""

from __future__ import annotations

import pytest

from workbench.features.base.registry import KINDS


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know one feature more."""
    monkeypatch.setattr(KINDS, "_makers", dict(KINDS._makers))
    monkeypatch.setattr(KINDS, "_made", dict(KINDS._made))
    KINDS.register("warmth", "tests.features.warmth")
