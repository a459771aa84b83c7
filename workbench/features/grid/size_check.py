"""A run of each size before measuring, so that sizes which the model refuses are an error at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbench.core.config import Config
from workbench.core.errors import InputError, RunFailed, WorkerError
from workbench.core.measure.candidates import worker_plan
from workbench.core.measure.limits import Limits
from workbench.core.models.model import Model
from workbench.core.prepare.runnable import cast_feeds, make_runnable
from workbench.core.text import shorten
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import Feed, write_values


def check_sizes(
    model: Model,
    config: Config,
    points: Iterable[tuple[str, Sequence[Feed]]],
    *,
    limits: Limits,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> None:
    """Run the feeds of each named point once in one worker; raise InputError where one is refused.

    A session of ONNX Runtime is made once; another engine may be built for the shapes of its feeds.
    """
    runnable = make_runnable(model, config, (), calibration=calibration, cancel=cancel, on_step=on_step)
    with WorkerFolder() as folder:
        worker = Worker(
            folder,
            name="sizes",
            python=config.interpreter,
            memory_bytes=limits.memory_bytes,
            engine=None if config.engine is None else config.engine.KIND,
        )
        with worker:
            worker.hello(timeout_s=limits.start_s, cancel=cancel)
            path, loaded = folder / "feeds", None
            for name, feeds in points:
                on_step(f"trying {name}")
                plan = worker_plan(config, runnable.config, runnable.model, feeds)
                if plan != loaded:
                    loaded, session = plan, {"model": str(runnable.model.path), "plan": plan}
                    worker.request("load", session, stage="load", timeout_s=limits.load_s, cancel=cancel)
                write_values(path, cast_feeds(feeds, runnable.model))
                body = {"feeds": str(path)}
                try:
                    worker.request(
                        "first_run", body, stage="first run", timeout_s=limits.run_s, cancel=cancel
                    )
                except (RunFailed, WorkerError) as error:
                    raise InputError(
                        f"{shorten(model.name)} cannot run at {name}: {error.problem}",
                        f"leave these sizes out, or give sizes that belong together; {error.fix}",
                    ) from error
