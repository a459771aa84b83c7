"""How many examples a test draws: a part, or all where WORKBENCH_THOROUGH is set, as in `.ci/run all`."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

THOROUGH = bool(os.environ.get("WORKBENCH_THOROUGH"))
SHARE = 10
LEAST = 10


def amount(most: int, least: int = LEAST) -> int:
    """Return how many of so many examples are drawn. `least`: what a bound on a share of them needs."""
    return most if THOROUGH else min(most, max(least, most // SHARE))


def sample(items: Sequence[T], count: int, seed: str) -> Sequence[T]:
    """Return a few of the items, always the same ones, or all of them."""
    return items if THOROUGH or count >= len(items) else random.Random(seed).sample(items, count)
