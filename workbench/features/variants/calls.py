"""`wb.levels` and `wb.compare_versions`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workbench.core.config import Config
from workbench.core.errors import Cancelled, ConfigError, WorkbenchError
from workbench.core.measure.bar import bar, steps
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.models import Model, load
from workbench.core.models.operators import count_operators
from workbench.core.prepare.replayed import replayed
from workbench.core.text import quoted
from workbench.features.base.running import Feeds, kept
from workbench.features.compare.call import compare
from workbench.features.explain.observe import Observation, observe
from workbench.features.profile.calls import profile
from workbench.features.variants.bisecting import bisected
from workbench.features.variants.environments import environment, is_version, releases
from workbench.features.variants.levels import Levels, level_configs, levels_of
from workbench.features.variants.versions import (
    OpTime,
    VersionRow,
    Versions,
    VersionsRecord,
    software_of,
    version_row,
)


def levels(
    model: Model | Any,
    config: Config | None = None,
    *,
    inputs: Feeds = None,
    budget_s: float | None = None,
    calibration: Any = None,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    keep: bool = True,
) -> Levels:
    """Measure the model at each of ORT's levels: graph, load time, and latency in one comparison."""
    loaded, chosen, calibration = load(model), config or Config(), replayed(calibration)
    observation = observe(
        loaded, chosen.replace(level="all"), passes=True, calibration=calibration, cancel=cancel
    )
    comparison = compare(
        loaded, *level_configs(chosen), inputs=inputs, budget_s=budget_s, calibration=calibration,
        progress=progress, cancel=cancel, keep=False,
    )  # fmt: skip
    return kept(Levels(levels_of(loaded.name, observation, comparison.record)), keep)


def compare_versions(
    model: Model | Any,
    environments: Sequence[str | os.PathLike[str] | None],
    config: Config | None = None,
    *,
    bisect: bool = False,
    inputs: Feeds = None,
    budget_s: float | None = None,
    calibration: Any = None,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    keep: bool = True,
) -> Versions:
    """Say what changes with the version of ONNX Runtime: passes, nodes, placement, latency, outputs.

    `environments` are versions such as "1.27.0", whose environments are made once with venv and pip and kept
    (`wb.storage()`); interpreters, or folders of virtual environments, with ONNX Runtime 1.16 or newer and
    Python 3.11 or newer; None is this one, which is the baseline where one environment alone is given. All
    run the same config, side by side, as in `wb.compare`.

    `bisect` finds the release in which outputs or latency changed: between two versions, all releases that
    pip offers for this Python; of three or more, these. Each step is a comparison of `budget_s`. The result
    compares the neighbours, and `.report()` is what an issue needs, in Markdown.
    """
    if isinstance(environments, (str, os.PathLike)) or not environments:
        raise ConfigError(
            f"environments={quoted(environments)} is no list of environments",
            "give a list of versions, interpreters or folders: wb.compare_versions(model, ['1.27.0', None])",
        )
    places = [None, *environments] if len(environments) == 1 else list(environments)
    chosen, calibration = config or Config(), replayed(calibration)
    named = [None if place is None else os.fspath(place) for place in places]
    numbers = [name for name in named if name is not None and is_version(name)]
    if bisect and len(numbers) != len(named):
        raise ConfigError(
            "bisect=True searches between versions, and not all of these are some",
            "give two versions: wb.compare_versions(model, ['1.20.1', '1.27.0'], bisect=True)",
        )
    loaded = load(model)
    how: dict[str, Any] = {"inputs": inputs, "calibration": calibration, "cancel": cancel}
    with bar(progress) as on_progress:

        def measured(places: Sequence[str | None]) -> VersionsRecord:
            def tell(now: Progress) -> None:
                step = f"{' and '.join(map(str, places))}: " if bisect else ""
                on_progress(replace(now, doing=f"{step}{now.doing}"))

            return _measured(loaded, places, chosen, on_progress=tell, budget_s=budget_s, **how)

        if not bisect:
            return kept(Versions(measured(named)), keep)
        with steps(None, on_progress) as on_step:
            known = numbers if len(numbers) > 2 else releases(numbers[0], numbers[1], cancel, on_step)
        record = bisected(known, measured)
        operators = tuple(count_operators(loaded.structure).most_common())
        times = _op_times(loaded, record, on_progress, **how)
    return kept(Versions(replace(record, operators=operators, profiles=times)), keep)


def _op_times(
    loaded: Model, record: VersionsRecord, on_progress: OnProgress, **how: Any
) -> tuple[OpTime, ...]:
    """Profile the model on each environment of the record."""
    times: list[OpTime] = []
    with steps(None, on_progress) as on_step:
        for row, run in zip(record.rows, record.comparison.runs, strict=True):
            on_step(f"profile on ONNX Runtime {row.onnxruntime}")
            table = profile(loaded, run.config, keep=False, **how).by("op_type")
            columns = zip(*(table[name].tolist() for name in ("op_type", "calls", "self_s")), strict=True)
            times += [OpTime(row.name, str(kind), float(calls), float(own)) for kind, calls, own in columns]
    return tuple(times)


def _measured(
    loaded: Model, places: Sequence[str | None], chosen: Config, *, on_progress: OnProgress,
    calibration: Any, cancel: threading.Event | None, **options: Any,
) -> VersionsRecord:  # fmt: skip
    """Compare one config on several environments."""
    with steps(None, on_progress) as on_step:
        runtimes = [
            environment(name, cancel, on_step) if name and is_version(name) else name for name in places
        ]
    configs = [chosen.replace(runtime=runtime) for runtime in runtimes]
    software = [software_of(candidate, cancel) for candidate in configs]
    comparison = compare(
        loaded, *configs, calibration=calibration, progress=on_progress, cancel=cancel, keep=False, **options
    )
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
        rows.append(version_row(comparison.record, run, versions, observation, problem))
    return VersionsRecord(loaded.name, tuple(rows), comparison.record)
