"""The exercises of the lesson on int8."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workbench.apps.course.decision import RUBRICS, Rubric
from workbench.apps.course.exercise import NONE, OverBudget, budget_of_comparison, exercise
from workbench.core.config import Config
from workbench.core.text import listed, one_line
from workbench.features.grid.acceptance import Budget, Check, checks

if TYPE_CHECKING:
    from workbench.features.accuracy.result import AccuracyTable
    from workbench.features.accuracy.sensitivity_record import LayerSensitivity, SensitivityRecord
    from workbench.features.accuracy.sensitivity_result import Sensitivity
    from workbench.features.compare.result import Comparison

SPEED = "speed"  # the check of `judge.acceptance` on the speed-up
LEAST_DB = 3.0  # of error won back: 3 dB is a factor of 1.41
MOST_GIVEN_UP = 0.10  # of the time that quantizing everything saves
_ACTIVATIONS = ("uint8", "int8", "either")


@exercise(
    "7.a",
    "comparison.to_frame() has the ratio with its interval, accuracy.to_frame() the difference.",
    'The whole interval must keep a limit. Where no config keeps both, the answer is "none".',
    budget_s=60.0,
    spent=budget_of_comparison,
    limit="as many times faster as asked",
)
def fast_and_accurate(
    answer: Any, *, comparison: Comparison, accuracy: AccuracyTable, speedup: float, lost: float
) -> str | None:
    """Check for a config that is `speedup` times faster and loses at most `lost` of the accuracy."""
    budget = Budget(speedup, max_drop=lost)
    results = {
        verdict.label: checks(verdict, accuracy.record, verdict.label, budget)
        for verdict in comparison.verdicts
    }
    fine = [label for label, made in results.items() if all(check.passed is True for check in made)]
    if answer == NONE:
        return f"{fine[0]} keeps both limits." if fine else None
    if not isinstance(answer, Config):
        return f"The answer is neither a wb.Config nor {NONE!r}."
    label = next((run.label for run in comparison.runs if run.config == answer), None)
    if label is None:
        return "The comparison did not measure this config."
    if label not in results:
        return "That is the baseline itself."
    return None if label in fine else _first_failed(label, results[label])


@exercise(
    "7.b",
    "sensitivity.record.whole_error is the error with everything quantized; "
    "each row of sensitivity.record.rows has the error without that layer.",
    'Decibels: 20 × log10(error before / error after). If no layer keeps both limits: "none".',
    limit=f"at most {MOST_GIVEN_UP:.0%} of the gain given up",
    evidence="sensitivity",
)
def layer_left_out(answer: Any, *, sensitivity: Sensitivity) -> str | None:
    """Check for a layer that wins back 3 dB when it stays in float, for a tenth of the gain at most."""
    record = sensitivity.record
    if record.mode != "left out":
        return "This study quantized each layer alone: make it again with mode='left out'."
    rows = {row.name: row for row in record.rows}
    fine = [name for name, row in rows.items() if _problem_of(row, record) is None]
    if answer == NONE:
        return f"There is such a layer; {len(fine)} of {len(rows)} keep both limits." if fine else None
    if answer not in rows:
        return f"The study has no layer {one_line(str(answer), 60)!r}; it has: {listed(rows)}."
    return _problem_of(rows[answer], record)


@exercise(
    "7.c",
    "A has unsigned activations, B signed ones. What does the verdict say of B?",
    'A tie, or a difference that is not settled, means "either".',
    budget_s=30.0,
    spent=budget_of_comparison,
    evidence="comparison",
)
def activation_type(answer: Any, *, comparison: Comparison) -> str | None:
    """Check the type of activations against a comparison of uint8 (A) with int8 (B)."""
    if answer not in _ACTIVATIONS:
        return f"The answer is none of: {', '.join(_ACTIVATIONS)}."
    right = {"faster": "int8", "slower": "uint8"}.get(comparison.verdict.kind, "either")
    if answer == right:
        return None
    if right == "either":
        return f"The comparison does not show that {answer} is faster on this machine."
    return f"The comparison says that B, with int8, is {comparison.verdict.kind}."


def won_back_db(row: LayerSensitivity, record: SensitivityRecord) -> float | None:
    """Return by how many decibels the error shrinks without this layer; None where it is not known."""
    if row.error is None or not record.whole_error:
        return None
    return math.inf if row.error == 0 else 20 * math.log10(record.whole_error / row.error)


def given_up(row: LayerSensitivity, record: SensitivityRecord) -> float | None:
    """Return the share of the saved time that this layer saves; None where it is not known."""
    saved_s = sum(other.gain_s for other in record.rows if other.gain_s is not None and other.gain_s > 0)
    return None if row.gain_s is None or saved_s <= 0 else max(0.0, row.gain_s) / saved_s


def _problem_of(row: LayerSensitivity, record: SensitivityRecord) -> str | None:
    won_db, share = won_back_db(row, record), given_up(row, record)
    if won_db is None:
        return "The error without this layer is not known."
    if won_db < LEAST_DB:
        return f"Leaving this layer out wins {won_db:.1f} dB; {LEAST_DB:g} dB are asked for."
    if share is None:
        return "The time that this layer saves is not known."
    if share > MOST_GIVEN_UP:
        return OverBudget(
            f"Leaving this layer out gives up {share:.0%} of the gain; {MOST_GIVEN_UP:.0%} are allowed."
        )
    return None


def _first_failed(label: str, results: tuple[Check, ...]) -> str:
    """Return what is wrong, the accuracy first; the speed alone is a matter of the budget."""
    failed = [check for check in results if check.passed is not True]
    first = next((check for check in failed if check.what != SPEED), failed[0])
    text = f"{label}: {first.reason}."
    return OverBudget(text) if first.what == SPEED else text


RUBRICS["7"] = Rubric(
    ("Static int8 is 2.2 (2.1 to 2.4) times as fast and loses 0.3 (0 to 1.4) points on 360 digits.",
     "Int8 doubles the speed without loss."),
    ("Dynamic int8 quantizes each activation in each run: 31 % of the time, as the profile shows.",
     "Dynamic int8 is for transformers."),
    ("Without VNNI, or with data unlike the calibration's, speed and accuracy must be measured again.",
     "Use more calibration data."),
)  # fmt: skip
