"""Results of a lesson as the reader's own values of the article's tables, by the name of a cell."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench.apps.course.article import article_table
from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.config.catalogue import catalogue
from workbench.core.config.provider import full_name
from workbench.core.measure.wording import speed_or_kind
from workbench.core.text import in_mib, in_ms

Cells = dict[str, str | None]  # None: nothing was measured, or nothing can be without other hardware

LEVEL_COLUMNS = {"disabled": "none_ms", "basic": "basic_ms", "extended": "extended_ms", "all": "all_ms"}
VARIANTS = {"": "FP32", "dynamic_int8": "Dynamic INT8", "static_int8": "Static INT8 (QDQ)"}
WITH_OPTIONS = ("cuda", "tensorrt")
LEVEL_NAMES = {1: "basic", 2: "extended", 3: "layout", 4: "all"}
NOT_FIRED = "did not fire in these models"


def level_cells(row: str, levels: wb.Levels) -> Cells:
    """Return the latency at each level and the gain of all of them, for a row of "levels-latency"."""
    rows = levels.record.rows
    columns = {column: level for level in rows if (column := LEVEL_COLUMNS.get(level.name))}
    texts = {column: in_ms(level.latency_s) for column, level in columns.items()}
    kind, ratio = str(rows[-1].verdict).replace("unknown", "not settled"), rows[-1].ratio.value
    texts["best_speedup"] = None if ratio is None else f"{ratio:.2f} times ({kind})"
    return _cells_of(levels.record.model_name, f"levels-latency/{row}", texts)


def precision_cells(comparison: wb.Comparison, accuracy: wb.AccuracyTable) -> Cells:
    """Return latency, speed, memory and accuracy of float32 and int8, for the table "quantization-bert"."""
    verdicts = {verdict.label: verdict for verdict in comparison.verdicts}
    model, table, cells = accuracy.record.model_name, article_table("quantization-bert"), Cells()
    for run in comparison.runs:
        variant = VARIANTS.get(run.config.precision.KIND if run.config.precision else "")
        if variant is None:  # the article's table has no such row
            continue
        score, verdict = accuracy.record.score(run.label), verdicts.get(run.label)
        speed = verdict and speed_or_kind(verdict)
        peak = in_mib(run.peak_rss_bytes)
        texts: Cells = {
            "latency_ms": in_ms(run.latency.median_s),
            "speedup": speed or "the baseline",
            "memory_mb": peak and f"{peak} at the peak of the process",
            "f1_squad": f"top-1 accuracy {score.score.text(100, ' %')}" if score and score.score else None,
        }
        cells |= _cells_of(model, f"{table.id}/{variant}", texts)
    return cells | {f"{table.id}/{row}/latency_ms": None for row in table.needs}


def _cells_of(model: str, row: str, texts: Cells) -> Cells:
    """Return what was measured of a model as cells of a row, by the names of its columns."""
    return {f"{row}/{column}": f"{model}: {text}" if text else None for column, text in texts.items()}


def provider_cells(doctor: wb.Doctor, predictions: Any) -> Cells:
    """Return what the doctor says of each provider here, and the share of nodes that is predicted for it.

    `predictions` are those of `explanation.what_if()`.
    """
    states = {provider.name: provider.state for provider in doctor.survey.providers}
    taken = {row.provider: f"takes {row.taken} of {len(row.nodes)} nodes" for row in predictions.all}
    cells = Cells()
    for row, *_ in article_table("provider-ecosystem").rows:
        cell, name = f"provider-ecosystem/{row}", full_name(row)
        cells[f"{cell}/hardware"] = states.get(name, "not in this ONNX Runtime")
        if name in taken:
            cells[f"{cell}/limitation"] = f"predicted: {taken[name]}"
    return cells


def option_defaults(provider: str) -> DataFrame:
    """Return the options of a provider with their defaults, as ONNX Runtime has them.

    >>> from workbench import course
    >>> "device_id" in set(course.option_defaults("cuda")["option"])
    True
    """
    return frame_of(catalogue().options(provider), ("name", "default", "help"), names={"name": "option"})


def option_cells() -> Cells:
    """Return ONNX Runtime's defaults of the provider options that the article's code sets.

    >>> from workbench import course
    >>> course.option_cells()["options-in-code/cuda: device_id/article_value"]
    'default: 0'
    """
    cells: Cells = {
        f"options-in-code/{provider}: {option.name}/article_value": f"default: {option.default or 'not set'}"
        for provider in WITH_OPTIONS
        for option in catalogue().options(provider)
    }
    return {cell: cells[cell] for cell in article_table("options-in-code").cells() if cell in cells}


def issue_cells(findings: wb.Findings) -> Cells:
    """Return what the rules for each of the article's common problems say of this model."""
    record, cells = findings.record, Cells()
    for issue, *_, named in article_table("common-issues").rows:
        rules = named.split(", ")
        titles = [finding.title for finding in record.findings if finding.id in rules]
        looked = f"{sum(rule in record.looked for rule in rules)} of {len(rules)} rules looked"
        reasons = dict.fromkeys(rule.reason for rule in record.not_looked if rule.id in rules)
        lacking = f" (the others: {', '.join(reasons)})" if reasons else ""
        cells[f"common-issues/{issue}/fix"] = f"{'; '.join(titles) or 'nothing found'}: {looked}{lacking}"
    return cells


def fusion_levels(*explanations: wb.Explanation) -> Cells:
    """Return the passes that fired for each fusion of the article's list with their level, by cell.

    >>> from workbench import course
    >>> len(course.fusion_levels())
    10
    """
    fired = [step for explanation in explanations for step in explanation.passes.fired]
    cells = Cells()
    for pattern, *_, named in article_table("fusion-patterns").rows:
        steps = {(step.level, step.name) for step in fired if step.name in named.split(", ")}
        texts = (f"{LEVEL_NAMES.get(level, level)}: {name}" for level, name in sorted(steps))
        cells[f"fusion-patterns/{pattern}/article_level"] = "; ".join(texts) or NOT_FIRED
    return cells
