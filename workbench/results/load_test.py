"""Configs under load: throughput against p99, the knee, processor time a request."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from workbench.errors import ConfigError
from workbench.judge.load_points import PointSummary, in_words, knee, load_frame, summaries
from workbench.records.load_test import LoadRun, LoadTestRecord, check_load_test
from workbench.results.form import Field, counts_or_names, numbers, whole_numbers
from workbench.results.registry import ResultKind
from workbench.results.result import Result, run_of

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from workbench.config import Config


class LoadTest(Result):
    """Configs under load. Made by `wb.load_test`.

    >>> import workbench as wb
    >>> wb.LoadTest.__name__
    'LoadTest'
    """

    record: LoadTestRecord
    charted_by = "workbench.figures.load_test:load_chart"

    @property
    def points(self) -> tuple[PointSummary, ...]:
        """Every config at every amount of load: throughput, percentiles, processor time, verdict."""
        return summaries(self.record)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per config and amount of load."""
        return load_frame(self.record)

    def to_python(self, model: str | os.PathLike[str], label: str = "A") -> str:
        """Return a plain onnxruntime script: the sessions of one config, and its callers at the knee."""
        from workbench.results.load_script import load_script

        run = run_of(self.record.runs, label)
        return load_script(run, model, self._best_callers(run))

    def best_callers(self, config: Config) -> int:
        """Return how many callers of one session of a config are best: its knee, else the first amount."""
        run = next((run for run in self.record.runs if run.config == config and run.sessions == 1), None)
        if run is None:
            raise ConfigError(
                "this load test has no run of this config with one session",
                "load that config: wb.load_test(model, config), or give the number of callers",
            )
        return self._best_callers(run)

    def _best_callers(self, run: LoadRun) -> int:
        best = knee([row for row in self.points if row.run is run])
        return best.point.callers if best else self.record.points[0].callers

    def figure(self) -> go.Figure:
        """Draw p99 against throughput, a line for each config, the knee marked."""
        from workbench.figures.load_test import load_figure

        return load_figure(self.record)

    def __str__(self) -> str:
        return in_words(self.record)


KIND = ResultKind(
    "load test",
    LoadTestRecord,
    check_load_test,
    result=LoadTest,
    scope="runs",
    entry="workbench.api.serving:load_test",
    takes=("inputs", "seed", "calibration", "progress", "keep"),
    heading="Several callers at once",
    button="Load test",
    hint="Several callers at once on all configs: throughput against p99, and the knee",
    step="under load",
    tabs=("scenarios", "threads"),
    form=(
        Field("callers", "callers", "Threads that call the model at once", whole_numbers, "1, 2, 4, 8"),
        Field(
            "sessions",
            "sessions",
            "Sessions that the callers share: 1, 4, or 4+threads+arena, with one thread pool and arena",
            counts_or_names,
            "1",
        ),
        Field(
            "rate_hz",
            "rate 1/s",
            "Requests arrive at random at this rate. Empty: each caller sends its next one after the answer",
            numbers,
            example="100",
        ),
        Field("duration_s", "seconds", "Time of each number of callers", float, "2"),
    ),
)
