"""A profile of what was explained: the prepared file under its config, so that names join."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from workbench.analysis.profile.running import BUDGET_S, Execution, profile_execution
from workbench.analysis.profile.session_profile import Profile
from workbench.config import Config
from workbench.models import Model
from workbench.preparation.feeds import cast_feeds
from workbench.preparation.preparing import prepare
from workbench.worker.values import Feed


def profile_of(
    model: Model,
    config: Config,
    feeds: Sequence[Feed],
    *,
    budget_s: float = BUDGET_S,
    calibration: Any = None,
    cancel: threading.Event | None = None,
) -> Profile:
    """A few runs with ORT's profiler on; what the config prepares is taken from the cache."""
    made = prepare(model, config, calibration=calibration, cancel=cancel)
    fed = cast_feeds(feeds, made.model)
    return profile_execution(Execution(made.model.path, made.config, fed, budget_s=budget_s), cancel=cancel)
