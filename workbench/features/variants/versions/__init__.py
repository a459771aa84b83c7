"""One model on several versions of ONNX Runtime, and the release in which something changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.kinds import about_comparison
from workbench.core.bundle.machine import ORT_PACKAGES, installed
from workbench.core.config import Config
from workbench.core.errors import Cancelled, ConfigError, WorkbenchError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, names, yes_or_no
from workbench.core.measure.bar import OnStep, bar, steps
from workbench.core.measure.gates import of_comparison
from workbench.core.measure.limits import Progress
from workbench.core.models import Model, load
from workbench.core.models.operators import count_operators
from workbench.core.prepare.replayed import replayed
from workbench.core.text import in_ms, quoted
from workbench.core.worker.environments import (
    is_version,
    kept_environment,
    kept_versions,
    releases,
    software_of,
    version_order,
)
from workbench.features.base.measured import Judged
from workbench.features.base.running import Feeds, kept
from workbench.features.compare.call import compare
from workbench.features.explain.observe import Observation, observe
from workbench.features.profile.calls import profile
from workbench.features.variants.variant import check_compared
from workbench.features.variants.versions.bisecting import bisected
from workbench.features.variants.versions.record import (
    TITLE,
    OpTime,
    VersionRow,
    VersionsRecord,
    versions_chart,
)


class Versions(Judged):
    """One model on several versions of ONNX Runtime. Made by `wb.compare_versions`."""

    record: VersionsRecord
    title = TITLE

    def report(self) -> str:
        """Return what an issue needs, in Markdown: structure, profile, config and machine, no weights."""
        from workbench.features.base.page import in_markdown

        record, rows = self.record, self.record.rows
        releases_of = [row.onnxruntime for row in rows]
        change = f"other {record.changed} on ONNX Runtime {releases_of[-1]} than on {releases_of[0]}"
        title = self.title if record.changed in (None, "nothing") else change
        times = {(time.op_type, time.name): in_ms(time.self_s) for time in record.profiles}
        kinds = dict.fromkeys(time.op_type for time in record.profiles)
        profiles = [(kind, *(times.get((kind, row.name)) for row in rows)) for kind in kinds]
        tried = [(s.release, s.is_changed, s.is_settled, s.ratio.factor or None) for s in record.steps]
        config = config_in_words(record.comparison.runs[0].config.replace(runtime=None))
        software = f"config: {config}", f"Python {rows[0].python}, NumPy {rows[0].numpy}"
        return in_markdown(
            record.comparison, title, (*self._in_words().splitlines(), *software),
            ("Operators of the file", ("operator", "count"), record.operators),
            ("Own time of a run", ("operator", *releases_of), profiles),
            ("Releases measured beside the first", ("release", "changed", "settled", "times as fast"), tried),
        )  # fmt: skip


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
    places = [None if place is None else os.fspath(place) for place in environments]
    places = [None, *places] if len(places) == 1 else places
    numbers = list(filter(is_version, places))
    if bisect and len(numbers) != len(places):
        raise ConfigError(
            "bisect=True searches between versions, and not all of these are some",
            "give two versions: wb.compare_versions(model, ['1.20.1', '1.27.0'], bisect=True)",
        )
    loaded, chosen = load(model), config or Config()
    how: dict[str, Any] = {"inputs": inputs, "calibration": replayed(calibration), "cancel": cancel}
    with bar(progress) as on_progress, steps(None, on_progress) as on_step:

        def measured(some: Sequence[str | None]) -> VersionsRecord:
            start = f"{' and '.join(map(str, some))}: " if bisect else ""

            def tell(now: Progress) -> None:
                on_progress(replace(now, doing=f"{start}{now.doing}"))

            return compare_places(
                loaded, some, chosen, on_step=on_step, progress=tell, budget_s=budget_s, **how
            )

        if not bisect:
            return kept(Versions(measured(places)), keep)
        known = numbers if len(numbers) > 2 else releases(numbers[0], numbers[1], cancel, on_step)
        record = bisected(known, measured)
        operators = tuple(count_operators(loaded.structure).most_common())
        record = replace(record, operators=operators, profiles=tuple(_times(loaded, record, on_step, **how)))
    return kept(Versions(record), keep)


def compare_places(
    loaded: Model, places: Sequence[str | None], chosen: Config, *, on_step: OnStep,
    calibration: Any, cancel: threading.Event | None, **options: Any,
) -> VersionsRecord:  # fmt: skip
    """Compare one config on several environments."""
    made = (kept_environment(place, cancel, on_step) if is_version(place) else place for place in places)
    configs = [chosen.replace(runtime=place) for place in made]
    software = [software_of(candidate, cancel) for candidate in configs]
    shared: dict[str, Any] = {"calibration": calibration, "cancel": cancel}
    comparison = compare(loaded, *configs, keep=False, **shared, **options).record
    rows = []
    for run, versions in zip(comparison.runs, software, strict=True):
        graph: Observation | str
        try:
            graph = observe(loaded, run.config, passes=False, **shared)
        except Cancelled:
            raise
        except WorkbenchError as error:
            graph = error.problem
        rows.append(VersionRow.seen(comparison, run, versions, graph))
    return VersionsRecord(loaded.name, tuple(rows), comparison)


def _times(loaded: Model, record: VersionsRecord, on_step: OnStep, **how: Any) -> Iterator[OpTime]:
    """Profile the model on each environment of the record."""
    for row, run in zip(record.rows, record.comparison.runs, strict=True):
        on_step(f"profile on ONNX Runtime {row.onnxruntime}")
        table = profile(loaded, run.config, keep=False, **how).by("op_type")
        for kind, calls, own_s in table[["op_type", "calls", "self_s"]].itertuples(index=False):
            yield OpTime(row.name, str(kind), float(calls), float(own_s))


def call_arguments(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `wb.compare_versions`: those of the form, beside this one or searched alone."""
    places = options.pop("environments", [])
    return (model, places if options.get("bisect") else [None, *places], *configs), options


def _versions(_model: object) -> str:
    """Return versions that are kept on this machine, or where none is the newest release before this one."""
    here = installed(*ORT_PACKAGES) or _RELEASES[-1]
    kept_ones = [version for version in kept_versions() if version != here]
    older = [release for release in _RELEASES if version_order(release) < version_order(here)]
    return ", ".join([*(kept_ones[-2:] or older[-1:]), "or a path"])


_RELEASES = ("1.20.1", "1.22.0", "1.24.1", "1.27.0", "1.29.1")  # some that exist, the oldest first
_PLACES = (
    "Versions by number (installed once and kept), interpreters or environments; one alone is beside this one"
)
_BISECT = "yes: find the release in which outputs or latency changed, between two versions by number"
FEATURE = Feature(
    "versions", VersionsRecord, check_compared, lambda record: about_comparison(record.comparison),
    result=Versions, chart=versions_chart, call="workbench.features.variants.versions:compare_versions",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    form=(
        Field("environments", "versions", _PLACES, names, example=_versions, required=True,
              before="Run this config on ONNX Runtime"),
        Field("bisect", "bisect", _BISECT, yes_or_no, example="yes",
              before="and search for the release of a change:"),
    ),
    arguments=call_arguments, gates=lambda record, fail_if: of_comparison(record.comparison, fail_if),
    heading="Versions of ONNX Runtime side by side", button="Versions", step="one version after another",
    hint="The config shown on other versions of ONNX Runtime: passes, nodes, placement, time, outputs",
    tabs=("Explore",),
)  # fmt: skip
