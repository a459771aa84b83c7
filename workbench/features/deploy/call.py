"""`wb.deploy`: a folder that serves a chosen config in production."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.config import Config
from workbench.core.errors import ConfigError, DeployError, RunFailed
from workbench.core.models import Model, load
from workbench.core.models.fit import check_fit
from workbench.core.prepare.real_data import inputs_from
from workbench.core.prepare.replayed import replayed
from workbench.core.prepare.runnable import make_runnable
from workbench.core.stored_files import folder_to_write
from workbench.core.text import quoted
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs
from workbench.features.deploy.checking_pipelines import WrittenPipeline
from workbench.features.deploy.folder import KINDS, Kind, Serving, file_name, write_deployment
from workbench.features.deploy.pipelines import write_pipeline
from workbench.features.deploy.result import Deployment
from workbench.features.load.result import LoadTest
from workbench.features.pipelines.call import examples_of, feeds_of
from workbench.features.pipelines.pipeline import Pipeline


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
    calibration = replayed(calibration)
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
