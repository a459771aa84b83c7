"""Badges on the nodes of the views: what findings say about them."""

from __future__ import annotations

from dataclasses import replace

import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.factories.graphs import fused
from workbench.apps.panels.handlers import link_view
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.kinds import Part
from workbench.features.explain.graph_view import graph_view
from workbench.features.findings.record import badges

LARGE, SMALL = examples.findings().findings


def test_large_findings_mark_their_nodes_and_small_ones_do_not() -> None:
    other = replace(LARGE, title="another", nodes=LARGE.nodes[:1])
    record = replace(examples.findings(), findings=(LARGE, other, SMALL))
    marks = badges([record])
    assert set(marks) == set(LARGE.nodes)
    assert marks[LARGE.nodes[0]] == f"{LARGE.title}; another"


def test_a_view_follows_the_findings_of_the_panels() -> None:
    state, view = BenchState(), graph_view(fused())
    link_view(state, view)
    assert view.badges == {}
    state.show_parts(state.request(), {"findings/B": wb.Findings(examples.findings(), examples.about())})
    assert view.badges == badges([examples.findings()])


def test_the_graph_of_a_comparison_has_the_badges_of_its_findings() -> None:
    parts = tuple(Part(f"explanation/{label}", fused(), examples.about()) for label in "AB")
    findings = Part("findings/B", examples.findings(), examples.about())
    assert wb.Comparison(ordinary(), parts=parts).graph().badges == {}
    assert wb.Comparison(ordinary(), parts=(*parts, findings)).graph().badges == badges([examples.findings()])
