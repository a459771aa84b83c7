"""The fields of a Dask cluster: its address, its workers, the kinds of machine to search for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from workbench.errors import WorkbenchError
from workbench.panels import widgets as W
from workbench.panels.bench import Bench
from workbench.panels.handlers import button, error_to
from workbench.panels.markup import note_html
from workbench.panels.tuning import ClusterChoice, workers_at
from workbench.records.display import to_table
from workbench.search.cluster.workers import MEASURING, ClusterWorker

HINT = (
    "A cluster of Dask measures in place of this machine. Each machine searches a space of its own, unless a "
    "check is off above. Several targets, such as AVX512_VNNI, GPU: the best config on each kind of machine. "
    "Dask's configuration has the certificates of tls:// addresses."
)


class ClusterFields:
    """The address, empty for this machine, the targets, and a button that lists the workers."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        wide = W.Layout(flex="1 1 220px", max_width="320px")
        self.address = W.Text(description="cluster", placeholder="this machine", layout=wide)
        self.targets = W.Text(description="targets", placeholder="any machine")
        self.status, self.workers = W.HTML(note_html(HINT)), W.HTML()
        hint = "List the machines of the cluster that measure, and their tags"
        self.find = button("Find workers", hint, self._find, self.status)
        row = W.HBox([self.address, self.targets, self.find], classes="wbp-tools")
        self.widget = W.VBox([row, self.status, self.workers])

    @property
    def choice(self) -> ClusterChoice:
        """What the fields ask for."""
        targets = tuple(name.strip() for name in self.targets.value.split(",") if name.strip())
        choice = ClusterChoice(self.address.value.strip(), targets)
        if targets and not choice.address:
            raise WorkbenchError("Targets are machines of a cluster.", "Write the address of its scheduler.")
        return choice

    def _find(self) -> None:
        """List the workers in a job, since a scheduler that does not answer takes seconds."""
        address = self.choice.address
        if not address:
            raise WorkbenchError(
                "No cluster is named.", "Write the address of its scheduler: tcp://HOST:8786."
            )
        self.workers.value = ""
        work = partial(workers_at, address)
        self.bench.jobs.start("Find workers", work, self._list, error_to(self.status))

    def _list(self, workers: Sequence[ClusterWorker]) -> None:
        rows = [
            (
                worker.host,
                worker.machine.cpu,
                worker.machine.usable_cores,
                ", ".join(sorted(worker.tags - {MEASURING})),
            )
            for worker in workers
        ]
        self.workers.value = to_table(("host", "CPU", "cores", "tags"), rows, "What can be a target")
