"""How near each candidate's outputs are to the baseline's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.accuracy import EQUAL_DB
from workbench.figures.chart import Axis, Chart, Look, ReferenceLine, Value, one_value, run_look
from workbench.figures.palette import LOSS

if TYPE_CHECKING:
    from workbench.records.comparison import ComparisonRecord, OutputAgreement

MOST_ROWS = 40
_DIFFERS = Look(LOSS, "", "cross", "differs")


def agreement_chart(record: ComparisonRecord) -> Chart:
    """Return a mark for each output of each candidate: the signal over the noise; further right is nearer."""
    places = {run.label: index for index, run in enumerate(record.runs)}
    several = len(record.runs) > 2
    rows = [
        one_value(
            f"{output.label}: {output.output}" if several else output.output,
            _value(output, run_look(places[output.label], output.label)),
        )
        for output in record.agreement[:MOST_ROWS]
    ]
    least = {output.least_sqnr_db for output in record.agreement if output.least_sqnr_db is not None}
    lines = tuple(ReferenceLine(limit, f"at least {limit:g} dB") for limit in sorted(least))
    left_out = len(record.agreement) - len(rows)
    note = f"equal outputs stand at {EQUAL_DB:g} dB" + (f"; {left_out} more in the table" if left_out else "")
    return Chart((_title(record),), (Axis("signal over noise (SQNR, dB)", "dot", lines),), tuple(rows), note)


def _title(record: ComparisonRecord) -> str:
    agreeing = sum(output.agrees is True for output in record.agreement)
    return f"{agreeing} of {len(record.agreement)} outputs agree with the baseline's"


def _value(output: OutputAgreement, look: Look) -> Value:
    if output.agrees is None:
        return Value(None, output.reason or "not known", look)
    if output.agrees is False:
        return Value(output.sqnr_db, output.reason or "differs", _DIFFERS, detail=output.reason)
    if output.sqnr_db is None:
        return Value(EQUAL_DB, "equal", look)
    return Value(output.sqnr_db, f"{output.sqnr_db:.3g} dB", look)
