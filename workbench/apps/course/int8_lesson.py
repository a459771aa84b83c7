"""The exercises of the lesson on int8."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench.apps.course.exercise import NONE, OverBudget, exercise, wrong
from workbench.core.config import Config
from workbench.core.text import listed, one_line

SPEED = "speed"  # the check of the acceptance on the speed-up
LEAST_DB = 3.0  # of error won back: 3 dB is a factor of 1.41
MOST_GIVEN_UP = 0.10  # of the time that quantizing everything saves


@exercise("7.a", budget_s=60.0, limit="as many times faster as asked")
def fast_and_accurate(
    answer: Any, *, comparison: wb.Comparison, accuracy: wb.AccuracyTable, speedup: float, lost: float
) -> str | None:
    """Check for a config that is `speedup` times faster and loses at most `lost` of the accuracy."""
    results = {
        verdict.label: accuracy.accepts(verdict, min_speedup=speedup, max_drop=lost)
        for verdict in comparison.verdicts
    }
    fine = [label for label, made in results.items() if all(check.passed is True for check in made)]
    if answer == NONE:
        return wrong("7.a", "one keeps") if fine else None
    if not isinstance(answer, Config):
        return wrong("7.a", "no config")
    label = next((run.label for run in comparison.runs if run.config == answer), None)
    if label is None:
        return wrong("7.a", "not measured")
    if label not in results:
        return wrong("7.a", "baseline")
    return None if label in fine else _first_failed(label, results[label])


@exercise("7.b", limit=f"at most {MOST_GIVEN_UP:.0%} of the gain given up", evidence="sensitivity")
def layer_left_out(answer: Any, *, sensitivity: wb.Sensitivity) -> str | None:
    """Check for a layer that wins back 3 dB when it stays in float, for a tenth of the gain at most."""
    record = sensitivity.record
    if record.mode != "left out":
        return wrong("7.b", "alone")
    rows = {row.name: row for row in record.rows}
    fine = [name for name, row in rows.items() if _problem_of(row, record) is None]
    if answer == NONE:
        return wrong("7.b", "some", fine=len(fine), layers=len(rows)) if fine else None
    if answer not in [*rows]:  # an answer may be of any type
        return wrong("7.b", "no layer", answer=one_line(str(answer), 60), layers=listed(rows))
    return _problem_of(rows[answer], record)


@exercise("7.c", answers=("uint8", "int8", "either"), budget_s=30.0, evidence="comparison")
def activation_type(answer: str, *, comparison: wb.Comparison) -> str | None:
    """Check the type of activations against a comparison of uint8 (A) with int8 (B)."""
    kind = comparison.verdict.kind
    right = {"faster": "int8", "slower": "uint8"}.get(kind, "either")
    if answer == right:
        return None
    return wrong("7.c", "either" if right == "either" else "other", answer=answer, kind=kind)


def _problem_of(row: Any, record: Any) -> str | None:
    """Return why a layer is not the one that was asked for."""
    won_db, share = record.won_back_db(row), record.given_up(row)
    if won_db is None:
        return wrong("7.b", "no error")
    if won_db < LEAST_DB:
        return wrong("7.b", "little", won_db=won_db, least_db=LEAST_DB)
    if share is None:
        return wrong("7.b", "no time")
    if share > MOST_GIVEN_UP:
        return OverBudget(wrong("7.b", "given up", share=share, most=MOST_GIVEN_UP))
    return None


def _first_failed(label: str, results: tuple[Any, ...]) -> str:
    """Return what is wrong, the accuracy first; the speed alone is a matter of the budget."""
    failed = [check for check in results if check.passed is not True]
    first = next((check for check in failed if check.what != SPEED), failed[0])
    text = wrong("7.a", "missed", label=label, reason=first.reason)
    return OverBudget(text) if first.what == SPEED else text
