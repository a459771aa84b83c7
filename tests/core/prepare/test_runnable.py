"""What a worker is given for one config."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.core.prepare.runnable import make_runnable


def test_a_config_that_leaves_the_file_alone_gives_the_model_and_the_feeds_themselves() -> None:
    model = wb.load("digits-conv")
    feeds = model.inputs().feeds
    config = wb.Config(level="basic")
    runnable = make_runnable(model, config, feeds)
    assert runnable.model is model
    assert runnable.feeds is feeds
    assert runnable.config == config


@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_feeds_are_cast_to_the_types_of_the_prepared_file() -> None:
    model = wb.load("digits-conv")
    steps: list[str] = []
    config = wb.Config(precision=wb.Float16(keep_io=False), level="basic")
    runnable = make_runnable(model, config, model.inputs().feeds, on_step=steps.append)
    assert steps == ["float16"]
    assert runnable.config == wb.Config(level="basic")
    assert {value.dtype for feed in runnable.feeds for value in feed.values()} == {np.dtype(np.float16)}


@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_the_calibration_data_reach_the_file() -> None:
    model = wb.load("digits-conv")
    feeds = model.inputs().feeds
    config = wb.Config(precision=wb.StaticInt8(samples=2))
    files = {
        make_runnable(model, config, feeds, calibration=calibration).model.sha256
        for calibration in (None, "random")
    }
    assert len(files) == 2
