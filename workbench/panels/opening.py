"""Opening a model in the background, described at once."""

from __future__ import annotations

from typing import Any

from workbench.panels.jobs import Job
from workbench.panels.recent import remember


def open_model(source: Any, job: Job) -> Any:
    """Open and describe a model, so that no panel waits for its description."""
    from workbench.models import load  # and onnx with it

    def progress(done: int, total: int | None) -> None:
        share = f" of {total / 1e6:,.0f}" if total else ""
        job.step(f"getting it ready: {done / 1e6:,.0f}{share} MB")

    job.step("opening")
    model = load(source, progress=progress)
    model.describe()
    remember(source)
    return model
