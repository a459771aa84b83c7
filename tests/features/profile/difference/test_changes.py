"""Two real configs of a model: every millisecond is in one row, and the rows sum to the difference."""

from __future__ import annotations

from math import fsum

import numpy as np
import pytest

import workbench as wb
from workbench.core.models.graph_walk import read_graph
from workbench.features.profile.difference.changes import Difference, difference
from workbench.features.profile.difference.matching import in_the_names_of, same_nodes
from workbench.features.profile.flame.merged import merged
from workbench.features.profile.flame.pictures import change_by_node, differing

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def both() -> tuple[Difference, wb.Profile, wb.Profile]:
    model = wb.load("digits-conv-qat")
    a, b = wb.Config(level="disabled", intra_op_threads=1), wb.Config(intra_op_threads=1)
    profiles = [wb.profile(model, config, budget_s=0.1) for config in (a, b)]
    explained = [wb.explain(model, config).explained for config in (a, b)]
    return difference(*profiles, *explained), *profiles


def test_the_rows_sum_to_the_difference_of_the_runs(both: tuple[Difference, wb.Profile, wb.Profile]) -> None:
    change, a, b = both
    means = [float(frames.width_s[0]) for frames in merged([a, b], "operator")]
    assert change.a_s == pytest.approx(means[0], rel=1e-12)
    assert change.b_s == pytest.approx(means[1], rel=1e-12)
    assert fsum(row.difference_s for row in change.rows) == pytest.approx(means[1] - means[0], rel=1e-9)
    assert change.lost_s - change.gained_s == pytest.approx(change.difference_s, rel=1e-9)
    assert change.to_frame()["difference_s"].sum() == pytest.approx(change.difference_s, rel=1e-9)


def test_every_node_that_ran_is_in_one_row(both: tuple[Difference, wb.Profile, wb.Profile]) -> None:
    change, a, b = both
    assert sorted(name for row in change.rows for name in row.a_nodes) == sorted(a.to_frame()["node"])
    assert sorted(name for row in change.rows for name in row.b_nodes) == sorted(b.to_frame()["node"])


def test_a_quantized_convolution_stands_against_what_it_replaced(
    both: tuple[Difference, wb.Profile, wb.Profile],
) -> None:
    labels = [row.label for row in both[0].rows if row.kind == "replaced"]
    assert labels.count("3 DequantizeLinear + Conv + QuantizeLinear → QLinearConv") == 6
    assert [row.label for row in both[0].rows if row.kind == "only in A"] == ["Relu → eliminated"] * 6
    gaps = {row.label for row in both[0].rows if row.kind == "gap"}
    assert gaps == {"(between nodes)", "(scheduling)"}


def test_boxes_are_as_wide_as_what_was_gained_and_lost(
    both: tuple[Difference, wb.Profile, wb.Profile],
) -> None:
    change = both[0]
    frames = differing(change)
    top = frames.depth == 0
    assert frames.width_s[top].sum() == pytest.approx(change.gained_s + change.lost_s)
    for row in range(len(frames)):
        below = frames.parent == row
        if below.any():
            assert frames.width_s[below].sum() == pytest.approx(frames.width_s[row])
    of_a, of_b = change_by_node(change)
    assert set(of_a) == set(both[1].to_frame()["node"])
    assert set(of_b) == set(both[2].to_frame()["node"])
    assert np.isfinite([*of_a.values(), *of_b.values()]).all()


def test_what_ort_numbers_anew_in_each_session_is_joined_by_what_it_computes() -> None:
    model = wb.load("mobilenetv2")
    config = wb.Config(intra_op_threads=1)
    explained = wb.explain(model, config).explained
    profile = in_the_names_of(explained, wb.profile(model, config, budget_s=0.05))
    assert set(profile.to_frame()["node"]) <= {node.name for node in explained.optimized.nodes}
    assert profile.optimized is not None
    graph = read_graph(profile.optimized)
    assert all(old == new for old, new in same_nodes(graph, explained.optimized, explained.source).items())
