"""What notebooks call for profiles: `profile` runs a model under ORT's profiler, `read_profile` reads one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import Config
from workbench.explain.profile.profile import Profile, read_profile
from workbench.explain.profile.running import Execution, profile_execution
from workbench.measure.limits import Limits

if TYPE_CHECKING:
    from workbench.models import Inputs, Model

__all__ = ["Profile", "profile", "read_profile"]


def profile(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
    seed: int = 0,
    budget_s: float = 1.0,
    per_node_memory: bool = False,
    keep_trace: str | os.PathLike[str] | None = None,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
) -> Profile:
    """Run a model for a moment with ORT's profiler on, in a process of its own, and read what it wrote.

    The cost of the profiler is measured too and stands in the notes. `per_node_memory` turns the memory
    pattern off, so that each node's own allocations show. `keep_trace` leaves ORT's file at that path.

    >>> import workbench as wb
    >>> wb.profile.__name__
    'profile'
    """
    from workbench.models import Inputs, load
    from workbench.models.model import Model

    loaded = model if isinstance(model, Model) else load(model)
    fed = inputs if isinstance(inputs, Inputs) else loaded.inputs(inputs, seed=seed)
    execution = Execution(
        model=loaded.path,
        config=config or Config(),
        feeds=fed.feeds,
        budget_s=budget_s,
        per_node_memory=per_node_memory,
        limits=limits or Limits(),
    )
    return profile_execution(
        execution, keep_trace=None if keep_trace is None else Path(keep_trace), cancel=cancel
    )
