"""`wb.compare_versions`: one model on several versions of ONNX Runtime."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from workbench.core.config import Config
from workbench.core.errors import Cancelled, ConfigError, WorkbenchError
from workbench.core.measure.limits import Progress
from workbench.core.models import Model, load
from workbench.core.prepare.replayed import replayed
from workbench.core.text import quoted
from workbench.features.base.running import Feeds, kept
from workbench.features.compare.call import compare
from workbench.features.explain.observe import Observation, observe
from workbench.features.variants.versions import VersionRow, VersionsRecord, software_of, version_row
from workbench.features.variants.versions_result import Versions


def compare_versions(
    model: Model | Any,
    environments: Sequence[str | os.PathLike[str] | None],
    config: Config | None = None,
    *,
    inputs: Feeds = None,
    budget_s: float | None = None,
    calibration: Any = None,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    keep: bool = True,
) -> Versions:
    """Say what changes with the version of ONNX Runtime: passes, nodes, placement, latency, outputs.

    `environments` are interpreters, or folders of virtual environments, with ONNX Runtime 1.16 or newer and
    Python 3.11 or newer; None is this one, which is the baseline where one environment alone is given. All
    run the same config, side by side, as in `wb.compare`.

    >>> import workbench as wb
    >>> wb.compare_versions.__name__
    'compare_versions'
    """
    if isinstance(environments, (str, os.PathLike)) or not environments:
        raise ConfigError(
            f"environments={quoted(environments)} is no list of environments",
            "give a list of interpreters or folders: wb.compare_versions(model, ['/path/to/env'])",
        )
    places = [None, *environments] if len(environments) == 1 else list(environments)
    chosen, calibration = config or Config(), replayed(calibration)
    runtimes = [None if place is None else os.fspath(place) for place in places]
    configs = [chosen.replace(runtime=runtime) for runtime in runtimes]
    software = [software_of(candidate, cancel) for candidate in configs]
    loaded = load(model)
    comparison = compare(
        loaded, *configs, inputs=inputs, budget_s=budget_s, calibration=calibration,
        progress=progress, cancel=cancel, keep=False,
    )  # fmt: skip
    rows: list[VersionRow] = []
    for run, versions in zip(comparison.runs, software, strict=True):
        observation: Observation | None = None
        problem = None
        try:
            observation = observe(loaded, run.config, passes=False, calibration=calibration, cancel=cancel)
        except Cancelled:
            raise
        except WorkbenchError as error:
            problem = error.problem
        rows.append(version_row(run.label, run.config, versions, observation, problem))
    return kept(Versions(VersionsRecord(loaded.name, tuple(rows), comparison.record)), keep)
