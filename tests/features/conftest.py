"""A feature that only tests know."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workbench.apps.cli import parser
from workbench.features.base.registry import KINDS


@pytest.fixture(scope="module")
def toy() -> Iterator[None]:
    """Know one feature more."""
    with KINDS.with_one_more("warmth", "tests.features.warmth"):
        parser.cache_clear()
        yield
    parser.cache_clear()
