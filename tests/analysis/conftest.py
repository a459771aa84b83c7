"""Explanations of tiny models, each made once: a worker process for each test would be slow."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import onnx
import pytest

from workbench.analysis.explanation import Explained, explain
from workbench.config import Config
from workbench.models import Model

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
Explain = Callable[[str], Explained]


@pytest.fixture(scope="session")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Explain:
    """By the name of a model in `tests.analysis.models`, or of a light model."""
    from tests.analysis import models

    folder = tmp_path_factory.mktemp("explained")

    @cache
    def made(name: str) -> Explained:
        if name.startswith("light_"):
            path = LIGHT / f"{name}.onnx"
        else:
            path = folder / f"{name}.onnx"
            path.write_bytes(models.MODELS[name]().SerializeToString())
        return explain(Model(path, name), Config())

    return made
