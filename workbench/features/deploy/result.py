"""A deployment: its files, and the check of its server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.core.bundle.origin import Origin
from workbench.core.errors import DeployError
from workbench.core.feature import Feature
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Limits, Progress
from workbench.core.prepare.runnable import Runnable
from workbench.features.base.result import Result
from workbench.features.deploy.checking import CALLERS, CHECK_BLOCK_S, ROUNDS, check_deployment
from workbench.features.deploy.checking_pipelines import WrittenPipeline, check_pipeline
from workbench.features.deploy.record import DeploymentRecord, check_deployment_record


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
        progress: bool | Callable[[Progress], None] = True,
        limits: Limits | None = None,
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
                check = check_pipeline(folder, source, limits=limits, on_progress=on_progress, cancel=cancel)
            else:
                check = check_deployment(
                    folder,
                    source.prepared,
                    source.feeds[0],
                    callers=callers,
                    rounds=rounds,
                    block_s=block_s,
                    limits=limits,
                    on_progress=on_progress,
                    cancel=cancel,
                )
        checked = Deployment.written(replace(self.record, check=check), self.about, folder, source)
        if keep:
            checked.keep()
        return checked


FEATURE = Feature(
    "deployment",
    DeploymentRecord,
    check_deployment_record,
    result=Deployment,
    chart="workbench.features.deploy.chart:deployment_chart",
    heading="Deployment",
)
