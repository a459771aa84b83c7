"""A feature that only tests know."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workbench.apps.cli import parser
from workbench.features.base.registry import KINDS


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Know one feature more."""
    monkeypatch.setattr(KINDS, "_makers", dict(KINDS._makers))
    monkeypatch.setattr(KINDS, "_made", dict(KINDS._made))
    KINDS.register("warmth", "tests.features.warmth")
    parser.cache_clear()
    yield
    parser.cache_clear()
