"""Stand-ins for the packages of engines that CI has no room or no GPU for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

FAKES = Path(__file__).with_name("fakes")


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType]]:
    """Give `tensorrt` and `torch` of the folder, and forget what imported them."""
    monkeypatch.syspath_prepend(str(FAKES))
    names = (
        "torch",
        "tensorrt",
        "workbench.core.worker.engine_tensorrt",
        "workbench.core.worker.engine_torch",
    )
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield import_module("tensorrt"), import_module("torch")
    for name in names:
        sys.modules.pop(name, None)
