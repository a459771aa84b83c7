"""Sizes and values that a model is usually run with: from a sample's card, or found by running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Usual:
    """What free dims and inputs are taken for where nothing is given, and why."""

    sizes: Mapping[str, int] = field(default_factory=dict)  # by the dim's name, or as in "x.2"
    why: str = ""
    values: Mapping[str, int] = field(default_factory=dict)  # by the input's name: all its elements


NOTHING_USUAL = Usual()
FOUND: dict[str, Usual] = {}  # by the hash of a model: what was found in this kernel
