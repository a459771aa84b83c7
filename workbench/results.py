"""What notebooks call and get: `compare`, `open`, `history`, and results with their methods."""

from __future__ import annotations

import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import Config
from workbench.errors import ConfigError, WorkbenchError
from workbench.judge.agreement import TOLERANCE
from workbench.judge.compare import compare as measure_and_judge
from workbench.judge.percentiles import percentiles, throughput
from workbench.judge.question import Question, check_seed
from workbench.judge.wording import report, sentence
from workbench.measure.bar import bar
from workbench.measure.limits import Limits, Progress
from workbench.models.fit import check_fit
from workbench.records.bundle import read_bundle, write_bundle
from workbench.records.comparison import ComparisonRecord, Doubt, OutputAgreement, Verdict
from workbench.records.history import History as RecordHistory
from workbench.records.run import Run

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from workbench.models import Inputs, Model


class Comparison:
    """Two or more configs of a model, measured interleaved, and the verdict. Made by `wb.compare`.

    >>> import workbench as wb
    >>> wb.Comparison.__name__
    'Comparison'
    """

    def __init__(self, record: ComparisonRecord, structure: bytes | None = None) -> None:
        self.record = record
        self._structure = structure

    @property
    def verdict(self) -> Verdict:
        """The verdict on the first candidate."""
        return self.record.verdict

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict a candidate."""
        return self.record.verdicts

    @property
    def runs(self) -> tuple[Run, ...]:
        """One run a config, the baseline first."""
        return self.record.runs

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Reasons not to trust it fully, each with a fix."""
        return self.record.doubts

    @property
    def agreement(self) -> tuple[OutputAgreement, ...]:
        """Each output of each candidate against the baseline's."""
        return self.record.agreement

    def to_frame(self) -> pd.DataFrame:
        """One row a run."""
        return self.record.to_frame()

    def percentiles(self) -> pd.DataFrame:
        """Latency percentiles and throughput with intervals over processes, a row each and a run."""
        import pandas as pd

        rows = []
        for run in self.runs:
            for estimate in percentiles(run):
                rows.append((run.label, f"{estimate.name}_ms", *_scaled(estimate, 1e3), estimate.note))
            rate = throughput(run)
            rows.append((run.label, "runs_per_s", rate.value, rate.low, rate.high, rate.note))
        return pd.DataFrame(rows, columns=["label", "figure", "value", "low", "high", "note"])

    def latency_figure(self) -> go.Figure:
        """Every sample, the median and its interval, before and after."""
        from workbench.figures.latency import latency_figure

        return latency_figure(self.record)

    def timeline_figure(self) -> go.Figure:
        """Block medians in the order measured, so that drift and disturbance are seen."""
        from workbench.figures.timeline import timeline_figure

        return timeline_figure(self.record)

    def ecdf_figure(self) -> go.Figure:
        """The share of runs that took no longer than a given time."""
        from workbench.figures.ecdf import ecdf_figure

        return ecdf_figure(self.record)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a bundle that `wb.open` reads anywhere, without the model and without ONNX Runtime."""
        return write_bundle(self.record, path, structure=self._structure)

    def __str__(self) -> str:
        return report(self.record)

    def __repr__(self) -> str:
        return f"<Comparison {self.record.id}: {sentence(self.record, self.verdict)}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """A live figure, a picture of it that survives sharing, and the numbers in words; never HTML."""
        from workbench.figures.still import latency_svg

        return {
            "text/plain": str(self),
            "image/svg+xml": latency_svg(self.record),
            "application/vnd.plotly.v1+json": json.loads(self.latency_figure().to_json()),
        }


def compare(
    model: Model | Any,
    a: Config,
    b: Config,
    *more: Config,
    inputs: Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
    budget_s: float | None = None,
    smallest_effect: float = 0.01,
    pacing_s: float | None = None,
    progress: bool | Callable[[Progress], None] = True,
    tolerance: float = TOLERANCE,
    seed: int = 0,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
    keep: bool = True,
) -> Comparison:
    """Measure configs side by side, each in fresh processes of its own, and say which is faster.

    `a` is the baseline. `budget_s` bounds the time (by default about 10 s, more for slow models); measuring
    ends sooner when the answer is known. `pacing_s` leaves that pause before each run, as requests that
    arrive now and then would. `keep` adds the result to the history. Ctrl-C or `cancel` stop it and leave no
    process behind.

    >>> import workbench as wb
    >>> wb.compare.__name__
    'compare'
    """
    from workbench.models import Model, load

    began = time.perf_counter()
    check_seed(seed)
    for config in (a, b, *more):
        if not isinstance(config, Config):
            raise ConfigError(
                f"{config!r} is no config",
                "give wb.Config(…) values: wb.compare(model, wb.Config(), wb.Config(…))",
            )
    loaded = model if isinstance(model, Model) else load(model)
    for config in (a, b, *more):
        check_fit(loaded, config)
    fed = _inputs(loaded, inputs, seed)
    hashing = ThreadPoolExecutor(1, "hash of the model")
    hashed = hashing.submit(loaded.record)  # large files: while the first worker starts and loads
    hashing.shutdown(wait=False)
    question = Question(
        model=loaded.path,
        model_name=loaded.name,
        model_bytes=loaded.graph_bytes + sum(file.size_bytes for file in loaded.external),
        model_record=hashed.result,
        configs=(a, b, *more),
        feeds=fed.feeds,
        inputs=fed.record(),
        budget_s=budget_s,
        smallest_effect=smallest_effect,
        pacing_s=pacing_s,
        tolerance=tolerance,
        seed=seed,
        limits=limits or Limits(),
        began=began,
    )
    with bar(progress) as on_progress:
        record = measure_and_judge(question, on_progress=on_progress, cancel=cancel)
    structure = loaded.structure.SerializeToString()
    if keep:
        _remember(record, structure)
    return Comparison(record, structure)


def open(path: str | os.PathLike[str]) -> Comparison:
    """Open a bundle that `save` wrote, here or on another machine.

    >>> import workbench as wb
    >>> wb.open.__name__
    'open'
    """
    bundle = read_bundle(path)
    return Comparison(bundle.record, bundle.structure)


class History(RecordHistory):
    """The history file, whose entries open as results with their methods."""

    def open(self, id_or_prefix: str) -> Comparison:  # type: ignore[override]
        """The comparison with this id, or with the only id that begins so."""
        bundle = self.bundle(id_or_prefix)
        return Comparison(bundle.record, bundle.structure)


def history() -> History:
    """Every comparison made on this machine, newest first.

    >>> import workbench as wb
    >>> wb.history().to_frame().columns[0]
    'id'
    """
    return History()


def _remember(record: ComparisonRecord, structure: bytes) -> None:
    """A history that cannot be written must not cost the user the result."""
    try:
        history().add(record, structure=structure)
    except WorkbenchError as error:
        warnings.warn(f"not added to the history: {error}", stacklevel=3)


def _inputs(model: Model, inputs: Any, seed: int) -> Inputs:
    from workbench.models import Inputs

    if isinstance(inputs, Inputs):
        return inputs
    return model.inputs(inputs, seed=seed) if inputs is not None else model.inputs(seed=seed)


def _scaled(estimate: Any, factor: float) -> tuple[float | None, float | None, float | None]:
    values = (estimate.value, estimate.low, estimate.high)
    first, second, third = (None if value is None else value * factor for value in values)
    return first, second, third
