"""The errors of a quantized model by tensor, weight and layer: both files run some examples in a job."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.core.measure.agreement import decibels
from workbench.core.measure.limits import Limits, OnProgress
from workbench.core.models.model import Model
from workbench.core.prepare.examples import examples
from workbench.core.prepare.runnable import cast_feeds
from workbench.core.worker.launch import WorkerFolder, call_job
from workbench.core.worker.values import write_values
from workbench.features.accuracy.layers_record import LayerError, LayerErrorsRecord, TensorError, WeightError
from workbench.features.accuracy.quantization_step import LAYERS, as_qdq, before_and_after, step_reporter

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

LAYER_ITEMS = 8  # all intermediate tensors of both models, one item at a time
_BEHIND_QDQ = "tensors were compared as the nodes behind Q and DQ read them, weights by their names"
_BY_NAME = "tensors and weights of the same name were compared"
PASSING = frozenset({"Relu", "Clip", "LeakyRelu", "Sigmoid", "Add", "Identity", "Reshape", "Transpose"})
_MOST_STEPS = 3  # from a layer to the tensor that stands for its output
EMBEDDING = "Gather"


def debug(
    model: Model,
    config: Config,
    *,
    data: Any = None,
    calibration: Any = None,
    items: int = LAYER_ITEMS,
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
        how=_BEHIND_QDQ if qdq else _BY_NAME,
        item_count=chosen_examples.item_count,
        made_by=chosen_examples.made_by,
        real=chosen_examples.real,
        layers=layers,
        tensors=tensors,
        weights=weights,
        notes=(*chosen_examples.notes, *notes, *step.notes, *more),
    )


def tensor_errors(answer: Mapping[str, Any], structure: ModelProto) -> tuple[TensorError, ...]:
    """Return the tensor errors in the order of the graph, inputs first."""
    makers = {output: node for node in structure.graph.node for output in node.output}
    order = {node_name: at for at, node_name in enumerate(makers)}
    rows = sorted(answer["tensors"], key=lambda row: order.get(row["tensor"], -1))
    return tuple(
        TensorError(
            tensor=row["tensor"],
            node=makers[row["tensor"]].name if row["tensor"] in makers else None,
            rounding_db=decibels(*row["rounding"]) if row["rounding"] else None,
            **_figures(row),
        )
        for row in rows
    )


def weight_errors(answer: Mapping[str, Any]) -> tuple[WeightError, ...]:
    """Return the weight errors in the order of the file."""
    return tuple(WeightError(weight=row["weight"], **_figures(row)) for row in answer["weights"])


def layer_errors(
    structure: ModelProto, tensors: Sequence[TensorError], weights: Sequence[WeightError]
) -> tuple[LayerError, ...]:
    """Return the error of every layer of the float file for which a figure is known."""
    by_tensor = {error.tensor: error for error in tensors}
    by_weight = {error.weight: error for error in weights}
    readers: dict[str, list[NodeProto]] = {}
    for node in structure.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    errors = []
    for node in structure.graph.node:
        own = [by_weight[name] for name in node.input if name in by_weight]
        if node.op_type not in LAYERS and not (node.op_type == EMBEDDING and own):
            continue
        read = [by_tensor[name] for name in node.input if name in by_tensor]
        output = _output(node, by_tensor, readers)
        if not own and output is None and not any(error.rounding_db is not None for error in read):
            continue
        ratios = [error.outlier_ratio for error in own] + [error.outlier_ratio for error in read]
        errors.append(
            LayerError(
                node=node.name,
                op_type=node.op_type,
                weight_db=_least(error.sqnr_db for error in own),
                input_db=_least(error.rounding_db for error in read),
                output_db=None if output is None else output.sqnr_db,
                outlier_ratio=max((ratio for ratio in ratios if ratio is not None), default=None),
            )
        )
    return tuple(errors)


def _output(
    node: NodeProto, tensors: Mapping[str, TensorError], readers: Mapping[str, list[NodeProto]]
) -> TensorError | None:
    """Return the error of the layer's output, or of its only reader's: a Relu may belong to the layer."""
    for _ in range(_MOST_STEPS):
        if not node.output:
            return None
        name = node.output[0]
        if name in tensors:
            return tensors[name]
        after = readers.get(name, [])
        if len(after) != 1 or after[0].op_type not in PASSING:
            return None
        node = after[0]
    return None


def _least(values: Any) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _figures(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a tensor or weight; the outlier ratio: its largest magnitude over the usual."""
    low, high, usual = row["low"], row["high"], row["usual"]
    known = low is not None and high is not None and usual
    return {
        "sqnr_db": decibels(row["signal"], row["noise"]),
        "low": low,
        "high": high,
        "outlier_ratio": float(max(abs(low), abs(high)) / usual) if known else None,
        "element_count": row["elements"],
    }
