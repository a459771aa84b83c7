"""A model for commands whose calls are faked."""

from __future__ import annotations

import pytest

from tests.core.models import tiny


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save(tiny.mlp(), tmp_path_factory.mktemp("model")))
