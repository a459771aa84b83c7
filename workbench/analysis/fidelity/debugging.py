"""Layer errors of a config: prepare it, run both files on some examples in a job, compare."""

from __future__ import annotations

import threading
from typing import Any

from workbench.analysis.fidelity.layers import layer_errors, tensor_errors, weight_errors
from workbench.analysis.fidelity.quantization_step import as_qdq, before_and_after, step_reporter
from workbench.config import Config
from workbench.measurement.limits import Limits, OnProgress
from workbench.models.examples import examples
from workbench.models.model import Model
from workbench.preparation.runnable import cast_feeds
from workbench.records.display import config_in_words
from workbench.records.layers import LayerErrorsRecord
from workbench.worker.launch import WorkerFolder, call_job
from workbench.worker.values import write_values

ITEMS = 8  # all intermediate tensors of both models, one item at a time
BY_TOOL = "ORT's qdq_loss_debug matched tensors and weights"
BY_NAME = "tensors and weights of the same name were compared"


def debug(
    model: Model,
    config: Config,
    *,
    data: Any = None,
    calibration: Any = None,
    items: int = ITEMS,
    seed: int = 0,
    limits: Limits | None = None,
    cancel: threading.Event | None = None,
    on_progress: OnProgress = lambda _: None,
) -> LayerErrorsRecord:
    """Return the errors against the float model; no labels are needed."""
    allowed = limits or Limits()
    chosen_examples = examples(model, data, most=items, seed=seed)
    qdq_config, notes = as_qdq(config)
    step = before_and_after(
        model, qdq_config, calibration=calibration, cancel=cancel, on_progress=on_progress
    )
    before, after = step.before, step.after
    qdq = any(node.op_type == "QuantizeLinear" for node in after.structure.graph.node)
    step_reporter(on_progress, "layer errors")("running both models with all of their tensors")
    with WorkerFolder() as folder:
        paths = [folder / name for name in ("before", "after")]
        for path, file in zip(paths, (before, after), strict=True):
            write_values(path, cast_feeds(chosen_examples.feeds, file))
        answer = call_job(
            "layer_errors",
            {
                "baseline": str(before.path),
                "quantized": str(after.path),
                "feeds": [str(path) for path in paths],
                "qdq": qdq,
            },
            timeout_s=allowed.load_s + allowed.run_s * max(1, len(chosen_examples.feeds)),
            cancel=cancel,
            memory_bytes=allowed.memory_bytes,
            custom_ops=config.custom_ops,
        )
    tensors, weights = tensor_errors(answer, before.structure), weight_errors(answer)
    layers = layer_errors(before.structure, tensors, weights)
    more = (
        [] if weights else ["no weight could be matched: weights in blocks, for example, have no counterpart"]
    )
    if not layers:
        more.append("no layer could be matched: the two files have other names for their tensors")
    return LayerErrorsRecord(
        model_name=model.name,
        config=config_in_words(config),
        how=BY_TOOL if qdq else BY_NAME,
        item_count=chosen_examples.item_count,
        made_by=chosen_examples.made_by,
        real=chosen_examples.real,
        layers=layers,
        tensors=tensors,
        weights=weights,
        notes=(*chosen_examples.notes, *notes, *step.notes, *more),
    )
