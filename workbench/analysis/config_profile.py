"""The profile of a config that is also explained: of the same prepared file, so that node names join."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from workbench.analysis.profile.running import BUDGET_S, Execution, profile_execution
from workbench.analysis.profile.session_profile import Profile
from workbench.config import Config
from workbench.models import Model
from workbench.preparation.runnable import make_runnable
from workbench.worker.values import Feed


def profile_of_config(
    model: Model,
    config: Config,
    feeds: Sequence[Feed],
    *,
    budget_s: float = BUDGET_S,
    calibration: Any = None,
    cancel: threading.Event | None = None,
) -> Profile:
    """Prepare the model for the config, from the cache where it can, and run it under ORT's profiler."""
    runnable = make_runnable(model, config, feeds, calibration=calibration, cancel=cancel)
    execution = Execution(runnable.model.path, runnable.config, runnable.feeds, budget_s=budget_s)
    return profile_execution(execution, cancel=cancel)
