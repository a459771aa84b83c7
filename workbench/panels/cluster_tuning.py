"""Searching on a Dask cluster from the panels, in a job: a scheduler that does not answer takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.api.tuning import tune, tune_targets
from workbench.panels.jobs import Job
from workbench.results.study import Study
from workbench.results.target_studies import TargetStudies
from workbench.search.cluster.connection import connected
from workbench.search.cluster.workers import Cluster, ClusterWorker

if TYPE_CHECKING:
    from distributed import Client

PATIENCE_S = 5.0  # for a scheduler: a person waits


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """The address of a scheduler, empty for this machine, and the kinds of machine that are searched for."""

    address: str = ""
    targets: tuple[str, ...] = ()


def workers_at(address: str, job: Job) -> list[ClusterWorker]:
    """Return the workers that measure."""
    with _connected(address, job) as client:
        cluster = Cluster(client)
        cluster.check_target(None)
        return cluster.workers()


def search_cluster(choice: ClusterChoice, job: Job, *arguments: Any, **options: Any) -> Study | TargetStudies:
    """Search on a machine of the cluster, or on one of each target; the arguments are those of `wb.tune`."""
    with _connected(choice.address, job) as client:
        if choice.targets:
            model, *others = arguments
            return tune_targets(model, choice.targets, client, *others, **options)
        return tune(*arguments, client=client, on_round=job.keep, **options)


@contextmanager
def _connected(address: str, job: Job) -> Iterator[Client]:
    job.step(f"connecting to {address}")
    with connected(address, timeout_s=PATIENCE_S, cancel=job.cancel) as client:
        yield client
