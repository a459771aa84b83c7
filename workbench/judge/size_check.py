"""A run of each size before measuring, so that sizes which the model refuses are an error at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbench.config import Config
from workbench.errors import InputError, RunFailed, WorkerError
from workbench.measurement.limits import Limits
from workbench.models.model import Model
from workbench.preparation.runnable import cast_feeds, make_runnable
from workbench.text import shorten
from workbench.worker.launch import Worker, WorkerFolder
from workbench.worker.values import Feed, write_values


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
    """Run the feeds of each named point once in one session; raise InputError where one is refused."""
    runnable = make_runnable(model, config, (), calibration=calibration, cancel=cancel, on_step=on_step)
    with WorkerFolder() as folder:
        worker = Worker(folder, name="sizes", python=config.interpreter, memory_bytes=limits.memory_bytes)
        with worker:
            worker.hello(timeout_s=limits.start_s, cancel=cancel)
            session = {"model": str(runnable.model.path), "plan": runnable.config.plan().to_dict()}
            worker.request("load", session, stage="load", timeout_s=limits.load_s, cancel=cancel)
            path = folder / "feeds"
            for name, feeds in points:
                on_step(f"trying {name}")
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
