"""Profiles of one run of a comparison, for everything that is made from them."""

from __future__ import annotations

from typing import Any

from workbench.features.base.examining import ExaminedRun
from workbench.features.profile.running import Execution, profile_execution
from workbench.features.profile.saved import profile_of
from workbench.features.profile.session_profile import SessionProfile


def execute(run: ExaminedRun, **options: Any) -> SessionProfile:
    """Run the config for a moment with ORT's profiler on; `options` as for `Execution`."""
    return profile_execution(Execution.of(run.runnable(), **options), cancel=run.cancel)


def profile_of_run(run: ExaminedRun) -> SessionProfile:
    """Return the profile of the run, made where it is missing."""
    return profile_of(run.record("profile")).scaled_to(run.run.latency.median_s)
