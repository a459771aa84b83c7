"""The calibration data of a comparison reach everything that is made of its configs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.core.models import tiny
from workbench.core.prepare import preparing

STATIC = wb.Config(precision=wb.StaticInt8())
QUICK: dict[str, Any] = {"budget_s": 0.05, "progress": False}
CALLS: dict[str, Callable[[Path, Any], object]] = {
    "explain": lambda model, data: wb.explain(model, STATIC, calibration=data, keep=False),
    "profile": lambda model, data: wb.profile(model, STATIC, calibration=data, keep=False),
    "ablate": lambda model, data: wb.ablate(model, STATIC, calibration=data, keep=False, **QUICK),
    "levels": lambda model, data: wb.levels(model, STATIC, calibration=data, keep=False, **QUICK),
    "memory": lambda model, data: wb.memory(model, STATIC, calibration=data),
    "memory settings": lambda model, data: wb.memory_settings(model, STATIC, calibration=data, **QUICK),
    "roofline": lambda model, data: wb.roofline(model, STATIC, calibration=data, budget_s=0.05),
    "cold start": lambda model, data: wb.cold_start(model, STATIC, calibration=data),
    "threads": lambda model, data: wb.threads(model, STATIC, most_threads=2, calibration=data, **QUICK),
}


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calibration data of each preparation."""
    data: list[Any] = []
    spool = preparing.spool

    def recording(source: Any, calibration: Any, *rest: Any) -> Any:
        data.append(calibration)
        return spool(source, calibration, *rest)

    monkeypatch.setattr(preparing, "spool", recording)
    return data


def calibration(path: Path) -> dict[str, Any]:
    return {
        name: np.repeat(values, 4, axis=0) for name, values in wb.load(path).inputs(seed=3).feeds[0].items()
    }


@pytest.mark.slow
@pytest.mark.real
def test_examine_uses_the_calibration_of_the_comparison(tmp_path: Path, used: list[Any]) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    data = calibration(path)
    result = wb.compare(path, wb.Config(), STATIC, calibration=data, keep=False, **QUICK)
    result.examine()
    assert len(used) >= 3
    assert all(calibration is data for calibration in used)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_every_function_that_takes_a_config_takes_its_calibration(
    name: str, tmp_path: Path, used: list[Any]
) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    data = calibration(path)
    CALLS[name](path, data)
    assert used
    assert all(calibration is data for calibration in used)
