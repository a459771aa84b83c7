"""Explanations of tiny models, each made once: a worker process for each test would be slow."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import onnx
import pytest

from workbench.core.config import Config
from workbench.core.models import Model
from workbench.features.explain.explanation import Explained, explain

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
Explain = Callable[[str], Explained]


@pytest.fixture(scope="session")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Explain:
    """By the name of a model in `tests.features.explain.models`, or of a light model."""
    from tests.features.explain import models

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
