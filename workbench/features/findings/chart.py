"""What findings are predicted to save."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.drawing.chart import (
    Axis,
    Chart,
    Look,
    Value,
    one_value,
    run_look,
)
from workbench.features.findings.record import FindingRecord, FindingsRecord

_MOST_ROWS = 12


def findings_chart(records: Mapping[str, FindingsRecord]) -> Chart:
    """Return a bar for each finding: the part of a run that its fix is predicted to save."""
    rows = []
    for index, (label, record) in enumerate(records.items()):
        look = run_look(index, label if len(records) > 1 else "")
        for finding in record.findings[:_MOST_ROWS]:
            rows.append(one_value(finding.title, _predicted(finding, record.run_s, look)))
    sentences = tuple(record.headline for record in records.values())
    note = "predicted from the profile; a fix is worth what a measurement says"
    return Chart(sentences, (Axis("predicted saving (% of a run)"),), tuple(rows), note)


def _predicted(finding: FindingRecord, run_s: float | None, look: Look) -> Value:
    gain = finding.gain
    if gain.subject != "time" or gain.share is None:
        return Value(None, f"{gain.subject}, {finding.confidence}", look)
    ends = [None if end is None or not run_s else 100 * end / run_s for end in (gain.low, gain.high)]
    text = f"{gain.share * 100:.0f} %, {finding.confidence}"
    return Value(100 * gain.share, text, look, ends[0], ends[1], finding.fix.text)
