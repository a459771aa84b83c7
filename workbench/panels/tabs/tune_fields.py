"""The fields of the tune tab: the goal with its limits and its time, and a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from workbench.errors import WorkbenchError
from workbench.panels import widgets as W
from workbench.panels.bench import Bench
from workbench.panels.handlers import button, error_to, follow
from workbench.panels.markup import note_html
from workbench.panels.tuning import ClusterChoice, workers_at
from workbench.records.display import to_table
from workbench.records.goal import MOST_CALLERS, OBJECTIVES, OF_OUTPUTS, Goal, Objective
from workbench.search.cluster.workers import MEASURING, ClusterWorker

NONE = "nothing"  # no second objective
HINT = (
    "A cluster of Dask measures in place of this machine. Each machine searches a space of its own, unless a "
    "check is off above. Several targets, such as AVX512_VNNI, GPU: the best config on each kind of machine. "
    "Dask's configuration has the certificates of tls:// addresses."
)


LIMITS = {  # argument of wb.Goal: label, example, unit, class in the style sheet
    "max_accuracy_drop": ("accuracy drop", "% at most", 0.01, "wbp-roomy"),
    "max_error": ("error", "% at most", 0.01, "wbp-slim"),
    "max_memory_bytes": ("memory", "MiB at most", W.MIB, ""),
    "max_p99_s": ("p99", "ms at most", 1e-3, ""),
    "max_load_s": ("load time", "s at most", 1.0, ""),
    "max_file_bytes": ("file", "MiB at most", W.MIB, ""),
    "min_speedup": ("speed-up", "times wanted", 1.0, ""),
}


class GoalFields:
    """The fields that most people need in `first`, the other limits in `further`."""

    def __init__(self) -> None:
        single = [name for name in OBJECTIVES if name not in OF_OUTPUTS]
        self.objective = W.Dropdown(options=single, description="improve")
        self.second = W.Dropdown(options=[NONE, *OBJECTIVES], description="beside")
        self.callers = W.BoundedIntText(4, min=1, max=MOST_CALLERS, description="callers")
        self.budget = W.BoundedFloatText(
            120.0, min=10.0, max=7200.0, description="seconds", classes="wbp-slim"
        )
        self.limits = {
            name: W.NumberField(label, example, unit, classes=classes)
            for name, (label, example, unit, classes) in LIMITS.items()
        }
        *limits, p99, load, file, speedup = self.limits.values()
        first = [self.objective, self.second, self.callers, *limits, self.budget]
        self.first = W.HBox(first, classes="wbp-tools")
        self.further = W.HBox([p99, load, file, speedup], classes="wbp-tools")
        for field in (self.objective, self.second):
            follow(field, self._fit, "value")

    @property
    def goal(self) -> Goal:
        """The limits in the fields."""
        return Goal(**{name: field.number for name, field in self.limits.items()})

    @property
    def second_objective(self) -> Objective | None:
        """The other objective of the front, if there is one."""
        name: Objective = self.second.value
        return None if self.second.value == NONE else name

    def _fit(self) -> None:
        """Show the number of callers only where it counts."""
        under_load = "throughput" in (self.objective.value, self.second.value)
        W.set_shown(self.callers, under_load)


class ClusterFields:
    """The address, empty for this machine, the targets, and a button that lists the workers."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        wide = W.Layout(flex="1 1 220px", max_width="320px")
        self.address = W.TextField(description="cluster", placeholder="this machine", layout=wide)
        self.targets = W.TextField(description="targets", placeholder="any machine")
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
        rows = []
        for worker in workers:
            machine, tags = worker.machine, ", ".join(sorted(worker.tags - {MEASURING}))
            rows.append((worker.host, machine.cpu, machine.usable_cores, tags))
        self.workers.value = to_table(("host", "CPU", "cores", "tags"), rows, "What can be a target")
