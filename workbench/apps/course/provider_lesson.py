"""The exercises of the lesson on execution providers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import workbench as wb
from sample_models.drawn_nets import split_graph
from workbench.apps.course.article import article_table
from workbench.apps.course.exercise import LEAST_SQNR_DB, OverBudget, exercise, wrong
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.text import listed

if TYPE_CHECKING:
    from onnx import ModelProto

ENTRY = "session.disable_cpu_ep_fallback"
PROVIDER = "coreml"  # its table is complete, so an operator that is not listed is known not to be taken
OPTIONS, OWNER = "options-in-code", "cuda: "


@exercise("8.a", answers=Config, evidence="explanation")
def loud_config(answer: Config) -> str | None:
    """Check for a config on CUDA whose session refuses to be made where a node would land on the CPU."""
    if "CUDAExecutionProvider" not in [provider.name for provider in answer.providers]:
        return wrong("8.a", "no cuda")
    if dict(answer.session_entries).get(ENTRY) != "1":
        return wrong("8.a", "silent")
    return None


@exercise("8.b", limit="one partition")
def joined_graph(answer: Any) -> str | None:
    """Check for the planted graph without the operator that splits it, with the same outputs."""
    try:
        model = wb.load(answer)
    except WorkbenchError as error:
        return wrong("8.b", "no model", problem=error.problem)
    try:
        sqnr_db = _agreement_db(split_graph(), answer)
    except Exception as error:  # noqa: BLE001 - the reader's graph may break anywhere
        return wrong("8.b", "broken", error=f"{type(error).__name__}: {str(error)[:200]}")
    if not sqnr_db >= LEAST_SQNR_DB:  # outputs that are no numbers have no ratio
        return wrong("8.b", "outputs", sqnr_db=sqnr_db, least_db=LEAST_SQNR_DB)
    prediction = wb.Explanation.predict(model, PROVIDER)
    if prediction.partitions != 1 or prediction.boundaries:
        left = listed({node.op_type for node in prediction.nodes if not node.takes})
        return OverBudget(wrong("8.b", "split", partitions=prediction.partitions, left=left))
    return None


@exercise("8.c")
def unchanged_options(answer: Any) -> str | None:
    """Check the CUDA options of the article's code that repeat the default."""
    try:
        names = {str(name) for name in answer}
    except TypeError:
        return wrong("8.c", "no list")
    effects = {
        option.removeprefix(OWNER): effect
        for option, *_, effect in article_table(OPTIONS).rows
        if option.startswith(OWNER)
    }
    right = {name for name, effect in effects.items() if effect.startswith("none")}
    if unknown := sorted(names - effects.keys()):
        return wrong("8.c", "unknown", name=unknown[0][:60])
    if others := sorted(names - right):
        return wrong("8.c", "no default", name=others[0])
    missing = len(right - names)
    return wrong("8.c", "missing", count=missing) if missing else None


def _agreement_db(planted: ModelProto, answer: ModelProto) -> float:
    """Return signal over noise of the answer's first output, computed by onnx's own reference."""
    import numpy as np
    from onnx.reference import ReferenceEvaluator

    shape = [dim.dim_value for dim in planted.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"x": np.random.default_rng(8).standard_normal(shape).astype(np.float32)}
    outputs: list[Any] = [ReferenceEvaluator(model).run(None, feeds) for model in (planted, answer)]
    expected, computed = outputs[0][0], outputs[1][0]
    noise = float(np.square(expected - computed, dtype=np.float64).sum())
    signal = float(np.square(expected, dtype=np.float64).sum())
    return math.inf if noise == 0 else 10 * math.log10(signal / noise)
