"""How near each output of each config is to the baseline's."""

from __future__ import annotations

from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement
from workbench.core.text import counted
from workbench.drawing.chart import Axis, Chart, Look, ReferenceLine, Value, one_value, run_look
from workbench.drawing.palette import LOSS

_MOST_ROWS = 40
EQUAL_DB = 160.0  # drawn for outputs that are equal to the last bit: beyond the precision of float32
_DIFFERS = Look(LOSS, "", "cross", "differs")


def agreement_chart(record: ComparisonRecord) -> Chart:
    """Return a mark for each output of each candidate: the signal over the noise; further right is nearer."""
    places = {run.label: index for index, run in enumerate(record.runs)}
    several = len(record.runs) > 2
    rows = [
        one_value(
            f"{output.label}: {output.output}" if several else output.output,
            _agreement(output, run_look(places[output.label], output.label)),
        )
        for output in record.agreement[:_MOST_ROWS]
    ]
    least = {output.least_sqnr_db for output in record.agreement if output.least_sqnr_db is not None}
    lines = tuple(ReferenceLine(limit, f"at least {limit:g} dB") for limit in sorted(least))
    left_out = len(record.agreement) - len(rows)
    judged = [output.agrees for output in record.agreement if output.agrees is not None]
    title = f"{judged.count(True)} of {len(judged)} outputs agree with the baseline's"
    if unknown := len(record.agreement) - len(judged):
        title = f"{title}; {unknown} not judged" if judged else f"{counted(unknown, 'output')} not judged"
    note = f"equal outputs stand at {EQUAL_DB:g} dB" + (f"; {left_out} more in the table" if left_out else "")
    return Chart((title,), (Axis("signal over noise (SQNR, dB)", "dot", lines),), tuple(rows), note)


def _agreement(output: OutputAgreement, look: Look) -> Value:
    if output.agrees is None:
        return Value(None, output.reason or "not known", look)
    if output.agrees is False:
        return Value(output.sqnr_db, output.reason or "differs", _DIFFERS, detail=output.reason)
    if output.sqnr_db is None:
        return Value(EQUAL_DB, "equal", look)
    return Value(output.sqnr_db, f"{output.sqnr_db:.3g} dB", look)
