"""Run configs over examples, one process after the other, and add up errors and accuracy part by part."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from workbench.core.errors import Cancelled, MetricError, RunFailed, StorageError, WorkbenchError
from workbench.core.measure.limits import Limits, OnProgress, Progress
from workbench.core.models.model import Model
from workbench.core.prepare.examples import Examples
from workbench.core.prepare.runnable import cast_feeds
from workbench.core.text import in_gib
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import read_values, write_values
from workbench.features.accuracy.error import ErrorTally
from workbench.features.accuracy.metrics import Metric
from workbench.features.accuracy.record import AccuracyRecord, DataRecord, OutputFidelity, Score

Outputs: TypeAlias = Mapping[str, Any]

PART_BYTES = 32 << 20  # of feeds or outputs that are held at once, more only where one run has more
_MOST_RUNS = 256  # in a part
REPORTED_SHARE = 0.05  # of the runs, before the remaining time is estimated
MOST_DISK_BYTES = 4 << 30  # of the baseline's outputs, which wait for the candidates


@dataclass(frozen=True, slots=True)
class EvaluatedConfig:
    """One config of the model, prepared: the file that ORT loads and how."""

    label: str
    config: str  # in words
    model: Model
    plan: dict[str, Any]
    runtime: str | None = None  # the interpreter whose ORT it is; None: ours
    problem: str | None = None  # why its file could not be made


def evaluate(
    configs: Iterable[EvaluatedConfig],
    examples: Examples,
    *,
    model_name: str,
    count: int | None = None,
    metric: Metric | None = None,
    scores: Mapping[str, bool] | None = None,
    limits: Limits | None = None,
    cancel: threading.Event | None = None,
    on_progress: OnProgress = lambda _: None,
) -> AccuracyRecord:
    """Evaluate the configs against the first one. Raise RunFailed if the first one cannot be run.

    The iterable is read one config at a time, so that each is prepared in its turn; `count` is its length.
    """
    with WorkerFolder() as folder:
        run = _Evaluation(examples, metric, scores or {}, folder, limits or Limits(), cancel, on_progress)
        evaluated: list[EvaluatedConfig] = []
        if count is None:
            configs = list(configs)
            count = len(configs)
        run.total = count * len(examples.feeds)
        for config in configs:
            evaluated.append(config)
            if len(evaluated) == 1:
                run.baseline(config)
            else:
                run.candidate(config)
        return AccuracyRecord(
            model_name=model_name,
            labels=tuple(config.label for config in evaluated),
            configs=tuple(config.config for config in evaluated),
            data=DataRecord(
                examples.made_by, sum(examples.items[: run.runs]), run.label_count,
                max(examples.items, default=1), examples.real,
            ),
            metric=metric.name if metric else None,
            scores=tuple(run.scores),
            fidelity=tuple(run.rows),
            notes=(*examples.notes, *run.notes),
        )  # fmt: skip


@dataclass(eq=False)
class _Evaluation:
    """One evaluation in progress."""

    examples: Examples
    metric: Metric | None
    read_as_scores: Mapping[str, bool]
    folder: Path
    limits: Limits
    cancel: threading.Event | None
    on_progress: OnProgress

    def __post_init__(self) -> None:
        self.began = time.perf_counter()
        self.parts: list[range] = []  # of the baseline; the candidates follow them
        self.runs = len(self.examples.feeds)
        self.done = self.total = 0
        self.notes: list[str] = []
        self.rows: list[OutputFidelity] = []
        self.scores: list[Score] = []
        self._base_items: Any = None  # the metric's rows of the baseline
        self._last_bytes = 0.0  # a run, of the last part

    @property
    def label_count(self) -> int | None:
        """The labels of the evaluated runs."""
        labels = self.examples.labels
        return None if labels is None else sum(label.size for label in labels[: self.runs])

    def baseline(self, config: EvaluatedConfig) -> None:
        """Run the baseline, and keep its outputs on disk for the candidates."""
        if config.problem is not None:
            raise RunFailed(f"the baseline {config.label}: {config.problem}", "give another first config")
        items: list[Any] = []
        used = 0
        for part, path, outputs in self._run(config):
            items += self._metric_rows(part, outputs)
            used += path.stat().st_size
            self.parts.append(part)
            if used > MOST_DISK_BYTES and part.stop < len(self.examples.feeds):
                self.runs = part.stop
                count = sum(self.examples.items[: self.runs])
                self.notes.append(
                    f"{count:,} of {self.examples.item_count:,} items were evaluated: "
                    f"their outputs take {in_gib(used)}"
                )
                break
        if self.metric is not None:
            self._base_items = np.concatenate(items)
            self.scores.append(Score(config.label, self.metric.summary(self._base_items), None, None))

    def candidate(self, config: EvaluatedConfig) -> None:
        """Evaluate a candidate; a failure is its result, except a wrong metric or a cancel."""
        tallies: dict[str, ErrorTally] = {}
        items: list[Any] = []
        try:
            if config.problem is not None:
                raise RunFailed(config.problem, "")
            for part, path, outputs in self._run(config):
                baseline = read_values(self.folder / _file("baseline", part))
                for at, expected, actual in zip(part, baseline, outputs, strict=True):
                    for name, value in expected.items():
                        if name not in tallies:
                            tallies[name] = ErrorTally(
                                config.label, name, scores=self.read_as_scores.get(name)
                            )
                        tallies[name].add(value, actual.get(name), self.examples.items[at])
                items += self._metric_rows(part, outputs)
                path.unlink()
        except (Cancelled, MetricError, StorageError):
            raise
        except WorkbenchError as error:
            self.scores.append(Score(config.label, None, None, error.problem))
            self.notes.append(f"{config.label} could not be evaluated: {error.problem}")
            return
        self.rows += [tally.row() for tally in tallies.values()]
        if self.metric is not None:
            rows = np.concatenate(items)
            gap = self.metric.paired(self._base_items, rows)
            self.scores.append(Score(config.label, self.metric.summary(rows), gap, None))

    def _run(self, config: EvaluatedConfig) -> Iterator[tuple[range, Path, Sequence[Outputs]]]:
        """Yield each part with its outputs, as a file and read; the first config makes the parts."""
        is_baseline = not self.parts
        name = "baseline" if is_baseline else "candidate"
        self._report(config)
        with Worker(
            self.folder,
            name=name,
            python=config.runtime or sys.executable,
            memory_bytes=self.limits.memory_bytes,
        ) as worker:
            worker.hello(timeout_s=self.limits.start_s, cancel=self.cancel)

            def ask(kind: str, stage: str, limit_s: float, **body: Any) -> None:
                worker.request(kind, body, stage=stage, timeout_s=limit_s, cancel=self.cancel)

            ask("load", "load", self.limits.load_s, model=str(config.model.path), plan=config.plan)
            for part in self._grow() if is_baseline else self.parts:
                path = self.folder / _file(name, part)
                feeds = self.folder / "feeds"
                given = [self.examples.feeds[at] for at in part]
                write_values(feeds, cast_feeds(given, config.model))
                ask("evaluate", "run", self.limits.run_s * len(part), feeds=str(feeds), path=str(path))
                self._last_bytes = max(path.stat().st_size, feeds.stat().st_size) / len(part)
                yield part, path, read_values(path)
                self.done += len(part)
                self._report(config)

    def _grow(self) -> Iterator[range]:
        """Yield one run first, which shows the size of the outputs; then as many at a time as may be held."""
        start, count = 0, 1
        while start < len(self.examples.feeds):
            stop = min(len(self.examples.feeds), start + count)
            yield range(start, stop)
            start = stop
            count = max(1, min(_MOST_RUNS, int(PART_BYTES / max(1.0, self._last_bytes))))

    def _metric_rows(self, part: range, outputs: Sequence[Outputs]) -> list[Any]:
        if self.metric is None or self.examples.labels is None:
            return []
        return [
            self.metric.per_item(run, self.examples.labels[at]) for at, run in zip(part, outputs, strict=True)
        ]

    def _report(self, config: EvaluatedConfig) -> None:
        elapsed_s = time.perf_counter() - self.began
        share = self.done / self.total if self.total else None
        self.on_progress(
            Progress(
                doing=f"evaluating {config.label}",
                round=0,
                elapsed_s=elapsed_s,
                budget_s=elapsed_s if not share else elapsed_s / share,
                fraction=share,
                remaining_s=elapsed_s / share - elapsed_s if share and share > REPORTED_SHARE else None,
            )
        )


def _file(name: str, part: range) -> str:
    return f"{name}-{part.start}.outputs"
