"""A deployment: its files, and the check of its server."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.bundle.origin import Origin
from workbench.core.command import Command
from workbench.core.config import Config
from workbench.core.errors import ConfigError, DeployError, RunFailed
from workbench.core.feature import Feature
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Model, load
from workbench.core.models.fit import check_fit
from workbench.core.prepare.real_data import inputs_from
from workbench.core.prepare.runnable import Runnable, make_runnable
from workbench.core.stored_files import folder_to_write
from workbench.core.text import bytes_text, counted, file_name, in_digits, quoted
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, one_value, series_look, time_value, value_of
from workbench.features.base.result import Result, origin_of
from workbench.features.base.running import Feeds, finding_inputs
from workbench.features.deploy.checking import CALLERS, CHECK_BLOCK_S, ROUNDS, check_deployment
from workbench.features.deploy.folder import KINDS, Kind, Serving, write_deployment
from workbench.features.deploy.pipelines import WrittenPipeline, check_pipeline, write_pipeline
from workbench.features.deploy.record import (
    DeploymentCheck,
    DeploymentRecord,
    check_deployment_record,
    deployment_gates,
)
from workbench.features.load.result import LoadTest
from workbench.features.pipelines.call import examples_of, feeds_of
from workbench.features.pipelines.pipeline import Pipeline

_LOOK = series_look(0, "")
_LARGEST_FILES = 8


def deployment_chart(record: DeploymentRecord) -> Chart:
    """Return a row for each way to call it; where nothing was timed, its largest files."""
    if record.check is None or not record.check.rounds:
        return _files(record)
    axes = (Axis("median latency (ms)"), Axis("throughput (requests/s)"))
    rows = [ChartRow("bare session", ((time_value(record.check.bare_s, _LOOK),), ()))]
    rows += [_row(record.check, callers) for callers in record.check.callers]
    return Chart(tuple(str(record).split("\n")[1].split("; ")), axes, tuple(rows), columns=2)


def _row(check: DeploymentCheck, callers: int) -> ChartRow:
    latencies = check.latencies_s(callers)
    rate = check.throughput(callers)
    value = (
        Value(None, "not measured", _LOOK)
        if rate.value is None
        else value_of(rate, in_digits(rate.value), _LOOK)
    )
    latency = time_value(median(latencies) if latencies else None, _LOOK)
    return one_value(f"HTTP, {counted(callers, 'caller')}", latency, value)


def _files(record: DeploymentRecord) -> Chart:
    largest = sorted(record.files, key=lambda file: -file.size_bytes)[:_LARGEST_FILES]
    rows = tuple(
        one_value(file.path, Value(file.size_bytes / 2**20, bytes_text(file.size_bytes), _LOOK))
        for file in largest
    )
    lines = str(record).split("\n")[: 1 if record.check is None else 2]
    title = tuple(part for line in lines for part in line.split("; "))
    return Chart(title, (Axis("size (MiB)"),), rows)


class Deployment(Result):
    """A folder that serves one config. Made by `wb.deploy`."""

    record: DeploymentRecord
    folder: Path | None = None  # None: a reopened result, whose folder may be on another machine
    _source: Runnable | WrittenPipeline | None = None

    @classmethod
    def written(
        cls, record: DeploymentRecord, about: Origin, folder: Path, source: Runnable | WrittenPipeline
    ) -> Deployment:
        """Return the deployment that was just written to `folder`."""
        deployment = cls(record, about)
        deployment.folder = folder
        deployment._source = source
        return deployment

    @property
    def checked(self) -> bool:
        """Whether its server was started and compared."""
        return self.record.check is not None

    def check(
        self,
        callers: Sequence[int] = CALLERS,
        *,
        rounds: int = ROUNDS,
        block_s: float = CHECK_BLOCK_S,
        progress: ShowProgress = True,
        worker_limits: Limits | None = None,
        cancel: threading.Event | None = None,
        keep: bool = True,
    ) -> Deployment:
        """Start its server on a free loopback port and hold it against the bare session.

        Each of `rounds` measures the session alone, then HTTP with each number of `callers`, for `block_s`
        seconds each. The script of a pipeline is run once instead, and its outputs are compared. `keep` adds
        the result to the history.
        """
        folder, source = self.folder, self._source
        if folder is None or source is None:
            raise DeployError(
                "this deployment was opened from a file, so its folder is not known",
                "write it again: wb.deploy(model, result.record.config, folder)",
            )
        if self.record.kind == "triton":
            raise DeployError(
                "only a Python server can be started here",
                "start Triton on its model repository, and ask it with any client of its protocol",
            )
        with bar(progress) as on_progress:
            if isinstance(source, WrittenPipeline):
                check = check_pipeline(
                    folder, source, limits=worker_limits, on_progress=on_progress, cancel=cancel
                )
            else:
                check = check_deployment(
                    folder,
                    source.prepared,
                    source.feeds[0],
                    callers=callers,
                    rounds=rounds,
                    block_s=block_s,
                    limits=worker_limits,
                    on_progress=on_progress,
                    cancel=cancel,
                )
        checked = Deployment.written(replace(self.record, check=check), self.about, folder, source)
        if keep:
            checked.keep()
        return checked


@finding_inputs
def deploy(
    model: Model | Pipeline | Any,
    config: Config | None = None,
    folder: str | os.PathLike[str] | None = None,
    kind: Kind = "python",
    *,
    name: str | None = None,
    inputs: Feeds = None,
    seed: int = 0,
    calibration: Any = None,
    fallback: bool = False,
    threads_from_environment: bool = False,
    concurrency: int | LoadTest = 1,
    max_queue: int = 256,
    max_body_bytes: int = 64 << 20,
    timeout_s: float = 30.0,
    cancel: threading.Event | None = None,
) -> Deployment:
    """Write everything that runs this config in production; nothing in it needs the workbench.

    `kind` is "python", a server of the Open Inference Protocol with exact requirements and a Dockerfile, or
    "triton", a model repository. The prepared model travels with it. `fallback=False` makes the server refuse
    to start when an execution provider of the config does not. `concurrency` is the number of runs at once,
    or a load test of this config, whose best number of callers is taken. With `threads_from_environment`
    ORT's variables (`ORT_INTRA_OP_NUM_THREADS`) set the threads; those of the config are the default. With
    `runtime=` in the config the requirements are the versions of that environment.
    A pipeline in place of the model has its configs: `wb.deploy(pipeline, folder="…")` writes a script that
    runs its stages, with the sources of its functions; `inputs` and `calibration` are as for
    `wb.measure_pipelines`.
    `result.check()` starts the server, or runs the script, and compares it with the measured config.
    """
    if folder is None:
        raise ConfigError("no folder was given", 'name one to write: folder="served"')
    if isinstance(model, Pipeline):
        if config is not None or kind != "python":
            raise ConfigError(
                "the models of a pipeline have their configs, and it is written as a Python script",
                "leave config and kind out",
            )
        return _deployed_pipeline(model, folder_to_write(folder), name, inputs, calibration, seed, cancel)
    if config is None:
        raise ConfigError(
            "no config was given", "give the one to serve: wb.deploy(model, wb.Config(…), folder)"
        )
    if isinstance(concurrency, LoadTest):
        concurrency = concurrency.best_callers(config)
    if threads_from_environment and kind == "triton":
        fix = 'leave it out, or write a server in Python: kind="python"'
        raise ConfigError("Triton sets the threads of a session in its own file", fix)
    if kind not in KINDS:
        raise ConfigError(f"kind={quoted(kind)} is no kind of deployment", f"give one of {', '.join(KINDS)}")
    for label, number in (("concurrency", concurrency), ("max_queue", max_queue)):
        fix = "give a whole number of at least 1"
        check_number(label, number, fix, what="count", least=1, whole=True)
    for label, bound in (("timeout_s", timeout_s), ("max_body_bytes", max_body_bytes)):
        check_number(label, bound, "give a number that is not negative", what="bound", least=0)
    loaded = load(model)
    check_fit(loaded, config)
    fed = inputs_from(loaded, inputs, seed=seed)
    loaded = loaded.with_inputs(fed)
    runnable = make_runnable(loaded, config, fed.feeds, calibration=calibration, cancel=cancel)
    serving = Serving(
        name=file_name(name or loaded.name),
        fallback=fallback,
        concurrency=concurrency,
        max_queue=max_queue,
        max_body_bytes=int(max_body_bytes),
        timeout_s=timeout_s,
        threads_from_environment=threads_from_environment,
    )
    target = folder_to_write(folder)
    record = write_deployment(runnable.prepared, runnable.feeds[0], target, kind, serving, cancel)
    about = origin_of(loaded, config, fed, cancel=cancel)
    return Deployment.written(record, about, target, runnable)


def _deployed_pipeline(
    pipeline: Pipeline,
    folder: Path,
    name: str | None,
    inputs: Feeds,
    calibration: Any,
    seed: int,
    cancel: threading.Event | None,
) -> Deployment:
    feeds, _ = feeds_of(pipeline, inputs, seed)
    try:
        (examples,) = examples_of((pipeline,), feeds, calibration, seed, cancel=cancel)
    except RunFailed as error:
        raise DeployError(*error.args) from error
    record, first = write_pipeline(pipeline, examples, folder, name, cancel), pipeline.models[0]
    about = origin_of(first.model, first.config, cancel=cancel)
    return Deployment.written(record, about, folder, WrittenPipeline(pipeline, feeds, examples))


def deploy_and_check(
    model: Any,
    folder: str | os.PathLike[str],
    config: Config,
    *,
    check: bool = False,
    progress: bool = True,
    **options: Any,
) -> Deployment:
    """Write the server of a config, and start and compare it if asked."""
    deployment = deploy(model, config, folder, **options)
    return deployment.check(progress=progress) if check else deployment


FEATURE = Feature(
    "deployment",
    DeploymentRecord,
    check_deployment_record,
    result=Deployment,
    chart="workbench.features.deploy.result:deployment_chart",
    call="workbench.features.deploy.result:deploy",
    heading="Deployment",
    gates=deployment_gates,
    command=Command(
        example="bert-base bert-server --a precision=dynamic_int8 --check",
        call="workbench.features.deploy.result:deploy_and_check",
        hints={
            "folder": "the folder to write, which does not exist yet",
            "kind": "python, or a model repository of triton",
            "check": "start it, compare outputs and latency",
            "name": "of the model in the server's addresses; default: that of the model",
            "fallback": "start without a provider that is missing",
            "threads_from_environment": "ORT_INTRA_OP_NUM_THREADS sets the threads; the config's are the "
            "default",
            "concurrency": "runs at once",
            "max_queue": "requests that may wait",
            "max_body_bytes": "size of a request",
            "timeout_s": "time that a request may wait",
        },
        text=str,
    ),
)
