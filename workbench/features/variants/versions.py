"""Versions of ONNX Runtime side by side: passes, nodes, placement, latency, outputs."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.kinds import about_comparison
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.config.runtime import name_of
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, names, yes_or_no
from workbench.core.markdown import markdown_table, without_markup
from workbench.core.measure.wording import headline
from workbench.core.text import counted, in_ms, listed, one_line, shorten
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.drawing.chart import Chart, run_look
from workbench.features.base.measured import Measured
from workbench.features.explain.observe import TIMEOUT_S, Observation
from workbench.features.explain.placement.records import placed_in_words
from workbench.features.variants.variant import ComparedRecord, Variant, check_compared, side_by_side

if TYPE_CHECKING:
    import pandas as pd

Changed = Literal["outputs", "latency", "nothing"]
_HERE = "this environment"
_OUTPUT = ("config", "output", "agrees", "largest error", "share of its largest value")
_STEP = ("release", "has the change", "settled", "times as fast")
MOST_NAMES = 6


@dataclass(frozen=True, slots=True)
class VersionRow(Variant):
    """One environment, by the label of its run. None: this version does not tell, or nothing was measured."""

    environment: str  # the name of its folder
    onnxruntime: str
    python: str
    numpy: str
    nodes: int | None
    ops: tuple[tuple[str, int], ...]  # of the optimized graph, the most frequent first
    passes: tuple[str, ...] | None  # that changed the graph
    placement: tuple[tuple[str, int], ...] | None  # nodes of each provider
    problem: str | None  # why the graph is not known


@dataclass(frozen=True, slots=True)
class BisectStep:
    """A release measured beside the first one, and whether it has the change."""

    release: str
    is_changed: bool
    is_settled: bool  # False: the interval holds the middle of the change, or outputs were not compared
    ratio: Estimate  # the first release's time over its own
    outputs_agree: bool | None


@dataclass(frozen=True, slots=True)
class OpTime:
    """The own time of one operator in a run, on the environment of a label."""

    name: str
    op_type: str
    nodes: float
    self_s: float


@dataclass(frozen=True, slots=True)
class VersionsRecord(ComparedRecord):
    """One model and config on several versions, measured in one comparison."""

    columns = (
        "label=name environment onnxruntime nodes load_s median_s=latency_s"
        " ratio=ratio.value low=ratio.low high=ratio.high verdict outputs_agree"
    )

    rows: tuple[VersionRow, ...]
    changed: Changed | None = None  # None: no release was searched for
    steps: tuple[BisectStep, ...] = ()
    operators: tuple[tuple[str, int], ...] = ()  # of the model's file
    profiles: tuple[OpTime, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per environment, with what changed from the first one."""
        first, frame = self.rows[0], ComparedRecord.to_frame(self)
        changes: dict[str, list[Any]] = {
            "passes": [None if row.passes is None else len(row.passes) for row in self.rows],
            "new_passes": [", ".join(added(first.passes, row.passes)) for row in self.rows],
            "lost_passes": [", ".join(added(row.passes, first.passes)) for row in self.rows],
            "new_ops": [", ".join(_changes(first.ops, row.ops)) for row in self.rows],
            "placement": [
                None if row.placement is None else placed_in_words(row.placement) for row in self.rows
            ],
        }
        for name, cells in reversed(changes.items()):
            frame.insert(4, name, cells)
        frame["problem"] = [row.problem or row.failure for row in self.rows]
        return frame.astype({"passes": "Int64"})

    def __str__(self) -> str:
        first = self.rows[0]
        lines = []
        for row in self.rows:
            nodes = "nodes not known" if row.nodes is None else counted(row.nodes, "node")
            latency = in_ms(row.latency_s) or "not measured"
            place = "" if row.environment == row.onnxruntime else f", {shorten(row.environment)}"
            line = f"{row.name} (ONNX Runtime {shorten(row.onnxruntime)}{place}): {nodes}, {latency}"
            lines.append("; ".join([line, *_differences(first, row)] if row is not first else [line]))
        return "\n".join([*([self.found] if self.found else []), *lines])

    @property
    def found(self) -> str:
        """What the search found, in words; empty where none was asked for."""
        if self.changed is None:
            return ""
        first, last = (shorten(row.onnxruntime) for row in (self.rows[0], self.rows[-1]))
        if self.changed == "nothing":
            return f"No change of outputs or latency is proved between {first} and {last}"
        doubt = "" if all(step.is_settled for step in self.steps) else "; not every step was settled"
        return (
            f"The {self.changed} changed from {first} to {last}, in {counted(len(self.steps), 'step')}{doubt}"
        )


def software_of(config: Config, cancel: threading.Event | None = None) -> dict[str, str]:
    """Return the versions of Python, ONNX Runtime and NumPy of a config's environment."""
    with WorkerFolder() as folder, Worker(folder, name="versions", python=config.interpreter) as worker:
        versions: dict[str, str] = worker.hello(timeout_s=TIMEOUT_S, cancel=cancel)["versions"]
        return versions


def version_row(
    record: ComparisonRecord, run: Run, software: dict[str, str], observation: Observation | None,
    problem: str | None,
) -> VersionRow:  # fmt: skip
    """Return the row of one environment; without an observation its graph is not known."""
    nodes = None if observation is None else observation.final.nodes
    applied = () if observation is None else observation.applied
    fired = dict.fromkeys(application.name for application in applied if application.fired)
    assignment = () if observation is None else observation.assignment
    placed = Counter[str]()
    for provider, keys in assignment:
        placed[provider] += len(keys)
    return VersionRow.of(
        run.label,
        run,
        record,
        environment=_HERE if run.config.runtime is None else name_of(run.config.runtime),
        onnxruntime=software.get("onnxruntime", "?"),
        python=software.get("python", "?"),
        numpy=software.get("numpy", "?"),
        nodes=None if nodes is None else len(nodes),
        ops=tuple(Counter(node.kind for node in nodes or ()).most_common()),
        passes=tuple(fired) if applied else None,
        placement=tuple(placed.most_common()) if assignment else None,
        problem=problem,
    )


def added(before: Sequence[str] | None, after: Sequence[str] | None) -> list[str]:
    """Return the names that only the second has; none where either is not known."""
    return [] if before is None or after is None else [name for name in after if name not in set(before)]


def _changes(before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]]) -> list[str]:
    """Return the operators of which there are more or fewer: "+2 FusedConv", "-4 Relu"."""
    if not before or not after:
        return []
    old, new = dict(before), dict(after)
    counts = {name: new.get(name, 0) - old.get(name, 0) for name in (*new, *old)}
    return [f"{count:+d} {shorten(name)}" for name, count in counts.items() if count]


def _differences(first: VersionRow, row: VersionRow) -> list[str]:
    """Return what changed from the first environment, in words."""
    if row.problem is not None:
        return [f"its graph is not known: {row.problem.splitlines()[0]}"]
    gained, lost = added(first.passes, row.passes), added(row.passes, first.passes)
    parts = [f"passes added: {listed(gained, MOST_NAMES)}"] if gained else []
    parts += [f"passes gone: {listed(lost, MOST_NAMES)}"] if lost else []
    changes = _changes(first.ops, row.ops)
    if changes:
        parts.append(
            f"operators {', '.join(changes[:MOST_NAMES])}{' …' if len(changes) > MOST_NAMES else ''}"
        )
    if first.placement is not None and row.placement is not None and first.placement != row.placement:
        parts.append(f"placed {placed_in_words(row.placement)}")
    return parts or ["the same graph"]


def versions_chart(record: VersionsRecord) -> Chart:
    """Return a row for each environment."""
    rows = (
        (one_line(f"{row.name}: {row.onnxruntime}", 40), row, row.nodes, run_look(index))
        for index, row in enumerate(record.rows)
    )
    changes = (f"{row.name}: {', '.join(_differences(record.rows[0], row))}" for row in record.rows[1:])
    title = "; ".join([f"{record.model_name}: {record.found or Versions.title}", *changes])
    return side_by_side(title, "A", rows)


class Versions(Measured):
    """One model on several versions of ONNX Runtime. Made by `wb.compare_versions`."""

    record: VersionsRecord
    title = "versions of ONNX Runtime side by side"

    def _in_words(self) -> str:
        verdicts = (headline(verdict) for verdict in self.record.comparison.verdicts)
        return "\n".join([str(self.record), *verdicts])

    def _title(self) -> str:
        first, last = (row.onnxruntime for row in (self.record.rows[0], self.record.rows[-1]))
        changed = f"other {self.record.changed} on ONNX Runtime {last} than on {first}"
        return self.title if self.record.changed in (None, "nothing") else changed

    def report(self) -> str:
        """Return what an issue needs, in Markdown: structure, profile, config and machine, no weights."""
        record = self.record
        compared, rows = record.comparison, record.rows
        machine = compared.machine
        cores = f"{machine.usable_cores} usable of {machine.logical_cores} cores"
        kinds = dict.fromkeys(time.op_type for time in record.profiles)
        times = {(time.op_type, time.name): in_ms(time.self_s) for time in record.profiles}
        profile = [[kind, *(times.get((kind, row.name)) for row in rows)] for kind in kinds]
        outputs = [
            (row.label, row.output, row.agrees, row.max_abs_error, row.relative_error)
            for row in compared.agreement
        ]
        steps = [
            (step.release, step.is_changed, step.is_settled, step.ratio.factor or None)
            for step in record.steps
        ]
        inputs = (without_markup(f"{name} {kind}") for name, kind in compared.inputs.shapes)
        facts = [
            *self._in_words().splitlines(),
            f"Config: {config_in_words(compared.runs[0].config.replace(runtime=None))}",
            f"Machine: {machine.cpu}, {cores}, {machine.platform}",
            f"Python {rows[0].python}, NumPy {rows[0].numpy}",
        ]
        return "\n".join([
            f"# {without_markup(f'{record.model_name}: {self._title()}')}", "",
            *(f"- {without_markup(fact)}" for fact in facts),
            f"- Inputs: {', '.join(inputs)}; {without_markup(compared.inputs.made_by)}",
            *_section("Outputs beside those of A", _OUTPUT, outputs),
            *_section("Operators of the file", ["operator", "count"], record.operators),
            *_section("Own time of a run", ["operator", *(row.onnxruntime for row in rows)], profile),
            *_section("Releases measured beside the first", _STEP, steps),
            "",
        ])  # fmt: skip


def _section(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a section with a table, or nothing where it has no rows."""
    return ["", f"## {title}", "", *markdown_table(heads, rows)] if rows else []


def call_arguments(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `wb.compare_versions`: those of the form, beside this one or searched alone."""
    places = options.pop("environments", [])
    return (model, places if options.get("bisect") else [None, *places], *configs), options


_PLACES = (
    "Versions by number (installed once and kept), interpreters or virtual environments, beside this one"
)
_BISECT = "yes: find the release in which outputs or latency changed, between two versions by number"


FEATURE = Feature(
    "versions", VersionsRecord, check_compared, lambda record: about_comparison(record.comparison),
    result=Versions, chart=versions_chart, call="workbench.features.variants.calls:compare_versions",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    form=(
        Field("environments", "versions", _PLACES, names, example="1.20.1, 1.27.0", required=True),
        Field("bisect", "bisect", _BISECT, yes_or_no, example="yes"),
    ),
    arguments=call_arguments, heading="Versions of ONNX Runtime side by side", button="Versions",
    hint="The config shown on other versions of ONNX Runtime: passes, nodes, placement, time, outputs",
    step="one version after another", tabs=("Explore",),
)  # fmt: skip
