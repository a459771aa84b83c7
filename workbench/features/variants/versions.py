"""Versions of ONNX Runtime side by side: passes, nodes, placement, latency, outputs."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import values_of
from workbench.core.bundle.kinds import check_comparison
from workbench.core.config import Config
from workbench.core.config.runtime import name_of
from workbench.core.errors import BundleError
from workbench.core.text import counted, in_ms, listed, shorten
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.features.explain.observe import TIMEOUT_S, Observation

if TYPE_CHECKING:
    import pandas as pd

HERE = "this environment"
MOST_NAMES = 6


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One environment. None: this version does not tell, or nothing was measured."""

    label: str  # that of its run
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
class VersionsRecord:
    """One model and config on several versions, measured in one comparison."""

    model_name: str
    rows: tuple[VersionRow, ...]
    comparison: ComparisonRecord

    def to_frame(self) -> pd.DataFrame:
        """Return one row per environment, with what changed from the first one."""
        import pandas as pd

        verdicts = {verdict.label: verdict for verdict in self.comparison.verdicts}
        first, rows = self.rows[0], []
        for row, run in zip(self.rows, self.comparison.runs, strict=True):
            verdict = verdicts.get(row.label)
            agree = [item.agrees for item in self.comparison.agreement if item.label == row.label]
            rows.append(
                {
                    **values_of(row, "label", "environment", "onnxruntime", "nodes"),
                    "passes": None if row.passes is None else len(row.passes),
                    "new_passes": ", ".join(added(first.passes, row.passes)),
                    "lost_passes": ", ".join(added(row.passes, first.passes)),
                    "new_ops": ", ".join(_changes(first.ops, row.ops)),
                    "placement": _placement(row),
                    "load_s": run.load_s,
                    "median_s": run.latency.median_s,
                    **values_of(verdict, "ratio", "low", "high"),
                    "verdict": verdict.kind if verdict else None,
                    "outputs_agree": (all(agree) if None not in agree else None) if agree else None,
                    "problem": row.problem or (run.failure.problem if run.failure else None),
                }
            )
        floats = dict.fromkeys(("load_s", "median_s", "ratio", "low", "high"), "float64")
        return pd.DataFrame(rows).astype({**floats, "nodes": "Int64", "passes": "Int64"})

    def __str__(self) -> str:
        first = self.rows[0]
        lines = []
        for row, run in zip(self.rows, self.comparison.runs, strict=True):
            nodes = "nodes not known" if row.nodes is None else counted(row.nodes, "node")
            latency = in_ms(run.latency.median_s) or "not measured"
            environment = f"ONNX Runtime {shorten(row.onnxruntime)}, {shorten(row.environment)}"
            line = f"{row.label} ({environment}): {nodes}, {latency}"
            lines.append("; ".join([line, *_differences(first, row)] if row is not first else [line]))
        return "\n".join(lines)


def check_versions(record: VersionsRecord, fix: str) -> None:
    """Refuse rows that are not those of the comparison."""
    check_comparison(record.comparison, fix)
    if [row.label for row in record.rows] != [run.label for run in record.comparison.runs]:
        raise BundleError("rows: expected one for each run, in their order.", fix)


def software_of(config: Config, cancel: threading.Event | None = None) -> dict[str, str]:
    """Return the versions of Python, ONNX Runtime and NumPy of a config's environment."""
    with WorkerFolder() as folder, Worker(folder, name="versions", python=config.interpreter) as worker:
        versions: dict[str, str] = worker.hello(timeout_s=TIMEOUT_S, cancel=cancel)["versions"]
        return versions


def version_row(
    label: str, config: Config, software: dict[str, str], observation: Observation | None, problem: str | None
) -> VersionRow:
    """Return the row of one environment; without an observation its graph is not known."""
    nodes = None if observation is None else observation.final.nodes
    applied = () if observation is None else observation.applied
    fired = dict.fromkeys(application.name for application in applied if application.fired)
    assignment = () if observation is None else observation.assignment
    placed = Counter[str]()
    for provider, names in assignment:
        placed[provider] += len(names)
    return VersionRow(
        label=label,
        environment=HERE if config.runtime is None else name_of(config.runtime),
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


def _placement(row: VersionRow) -> str | None:
    if row.placement is None:
        return None
    return ", ".join(f"{count} on {name.removesuffix('ExecutionProvider')}" for name, count in row.placement)


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
        parts.append(f"placed {_placement(row)}")
    return parts or ["the same graph"]
