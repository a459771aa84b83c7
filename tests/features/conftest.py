"""A feature that only tests know; pages without what is the same for every feature."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workbench.features.base.registry import KINDS


@pytest.fixture(scope="module")
def toy() -> Iterator[None]:
    """Know one feature more."""
    with KINDS.with_one_more("warmth", "tests.features.warmth"):
        yield


@pytest.fixture
def without_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out of a comparison's page what is the same for every feature: tests/features/base has it."""
    monkeypatch.setattr("workbench.features.base.page.add_measured", lambda _page, _record: None)
