"""Whatever a bundle may hold can be drawn: a stranger's record must not break the viewer."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from hypothesis import given, settings

from tests.amount import amount
from tests.core.bundle.strategies import comparisons
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.drawing.ecdf import ecdf_figure, ecdf_table
from workbench.drawing.latency import latency_figure, latency_table
from workbench.drawing.latency_scene import latency_scene
from workbench.drawing.timeline import timeline_figure, timeline_table


@settings(max_examples=amount(15, 4))
@given(comparisons())
def test_any_record_is_drawn(record: ComparisonRecord) -> None:
    for draw in (latency_figure, timeline_figure, ecdf_figure):
        figure = draw(record)
        json.loads(figure.to_json())
        assert figure.layout.height > 0
    ElementTree.fromstring(latency_scene(record).to_svg())
    assert len(latency_table(record)) == len(record.runs)
    assert set(ecdf_table(record)["label"]) == {run.label for run in record.runs}
    blocks = sum(len(process.blocks) for run in record.runs for process in run.processes)
    assert len(timeline_table(record)) == blocks
