"""Accuracy of each config with its interval, and the noise of its outputs."""

from __future__ import annotations

import math

from workbench.core.bundle.estimate import Estimate
from workbench.core.text import one_line
from workbench.drawing.agreement import EQUAL_DB
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Value,
    run_look,
    value_of,
)
from workbench.features.accuracy.record import AccuracyRecord, Mean

MOST_SENTENCE = 400


def accuracy_chart(record: AccuracyRecord) -> Chart:
    """Return a row for each config, the baseline first: its accuracy, and the noise of its worst output."""
    scored = any(score.score is not None for score in record.scores)
    axes = [Axis(f"{record.metric or 'accuracy'} (%)", "dot")] if scored else []
    if len(record.labels) > 1 or not scored:
        axes.append(Axis("worst output (SQNR, dB)", "dot"))
    rows = []
    for index, (label, config) in enumerate(zip(record.labels, record.configs, strict=True)):
        values = [(_score(record, index),)] if scored else []
        values += [(_noise(record, index),)] * (len(axes) - len(values))
        rows.append(ChartRow(f"{label} {config}", tuple(values)))
    return Chart((headline(record),), tuple(axes), tuple(rows), _note(record), columns=2)


def headline(record: AccuracyRecord) -> str:
    """Return one sentence: the scores, or the errors where there are no labels."""
    scores = [(label, record.score(label)) for label in record.labels]
    texts = [f"{label} {_percent_text(score.score)}" for label, score in scores if score and score.score]
    if texts:
        return one_line(f"{record.model_name}: {record.metric} {', '.join(texts)}", MOST_SENTENCE)
    errors = [(label, record.error(label)) for label in record.labels[1:]]
    texts = [f"{label} {_error_text(error)}" for label, error in errors if error is not None]
    sentence = f"{record.model_name}: error of the outputs {', '.join(texts) or 'not known'}"
    return one_line(sentence, MOST_SENTENCE)


def _score(record: AccuracyRecord, index: int) -> Value:
    score = record.score(record.labels[index])
    if score is None or score.score is None:
        return Value(None, (score and score.problem) or "not known", run_look(index))
    share = Estimate.of(score.score).times(100)
    return value_of(share, _percent_text(score.score), run_look(index), score.problem or "")


def _noise(record: AccuracyRecord, index: int) -> Value:
    """Return the signal-to-noise ratio of the worst output."""
    outputs, look = record.outputs(record.labels[index]), run_look(index)
    problems = "; ".join(output.problem for output in outputs if output.problem)
    if any(output.is_endless for output in outputs):
        return Value(None, problems or "NaN or Inf", look)
    ratios = [output.sqnr_db for output in outputs if output.sqnr_db is not None]
    if ratios:
        return Value(min(ratios), f"{min(ratios):.3g} dB", look, detail=problems)
    if outputs and all(output.equal for output in outputs):
        return Value(EQUAL_DB, "equal outputs", look)
    return Value(None, problems or ("baseline" if index == 0 else "not known"), look)


def _percent_text(mean: Mean) -> str:
    return mean.text(100, " %")


def _error_text(error: float) -> str:
    return "without end" if math.isinf(error) else f"{error * 100:.2g} %"


def _note(record: AccuracyRecord) -> str:
    data = record.data
    parts = [f"{data.item_count:,} items of {data.made_by}"]
    gaps = [
        f"{score.label} {score.against.value * 100:+.2f} points ({score.against.low * 100:+.2f} to "
        f"{score.against.high * 100:+.2f})"
        for score in record.scores
        if score.against is not None and score.against.low is not None and score.against.high is not None
    ]
    return "; ".join([*parts, *(["on the same items: " + ", ".join(gaps)] if gaps else []), *record.notes])
