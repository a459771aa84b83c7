"""`wb.accuracy`: configs evaluated on the same examples."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from workbench.core.config import Config
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Limits, Progress
from workbench.core.models import Model, load
from workbench.core.prepare.real_data import data_from
from workbench.core.prepare.replayed import replayed
from workbench.features.accuracy import accuracy as evaluation
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.base.result import origin_of
from workbench.features.base.running import check_configs, finding_inputs, kept, sized_as


@finding_inputs
def accuracy(
    model: Model | Any,
    *configs: Config,
    data: Any = None,
    metric: str | Callable[[Mapping[str, Any], Any], Any] | None = None,
    output: str | None = None,
    scores: Mapping[str, bool] | None = None,
    calibration: Any = None,
    items: int | None = None,
    batch: int | None = None,
    seed: int = 0,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
    keep: bool = True,
) -> AccuracyTable:
    """Evaluate configs on the same examples: accuracy where there are labels, and the error of every output.

    `data`: nothing (a trained sample's own evaluation set, else random inputs), an .npz file with an array
    for each input and one called `labels`, a dict of such arrays, (feeds, labels), or an iterable of feeds.
    `metric`: "top1", "top5", "f1", or a function of (outputs by name, labels) that gives one number an item;
    `output` names the output that it reads. `scores` says of outputs whether they hold one score a class,
    where their name does not. The first config is the baseline of all errors and differences. `keep` adds the
    result to the history.
    """
    check_configs(configs, "wb.accuracy(model, wb.Config(), …)")
    loaded = sized_as(load(model), data)
    data = data_from(loaded, data, items)
    with bar(progress) as on_progress:
        record = evaluation.accuracy(
            loaded, configs or (Config(),), data=data, metric=metric, output=output, scores=scores,
            calibration=replayed(calibration), most=items, batch=batch, seed=seed, limits=limits,
            cancel=cancel, on_progress=on_progress,
        )  # fmt: skip
    return kept(
        AccuracyTable(record, origin_of(loaded, configs[0] if configs else None, cancel=cancel)), keep
    )
