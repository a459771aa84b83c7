"""Operations beside time for each kind of convolution."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.features.profile.roofline.node_limits import OTHERS, NodeLimit, grouped, kinds_of

NODES = (
    NodeLimit("wide", "Conv", 1.0, 0.003, 8_000_000, 1000, 0.002, "compute"),
    NodeLimit("deep", "Conv", 2.0, 0.004, 1_000_000, 9000, 0.001, "memory"),
    NodeLimit("add", "Add", 1.0, 0.001, None, None, None, None),
)


def test_kinds_are_summed_with_what_binds_most_of_their_time() -> None:
    kinds = grouped(NODES, {"wide": "3×3", "deep": "depthwise 3×3"})
    frame = kinds.to_frame().set_index("kind")
    assert list(frame.index) == ["depthwise 3×3", "3×3", OTHERS]
    assert frame.bound["depthwise 3×3"] == "memory"
    assert frame.time_share.drop(OTHERS).sum() == pytest.approx(7 / 8)
    assert "depthwise 3×3 (1): 20% of the operations, 50% of the time" in str(kinds)
    assert list(kinds.to_frame().bound[:2]) == ["memory", "compute"]


def test_the_picture_has_two_bars_for_each_kind() -> None:
    kinds = grouped(NODES, {"wide": "3×3"})
    assert [len(row.values[0]) for row in kinds.chart().rows] == [2, 2]
    assert kinds.figure() is not None
    assert "image/png" in kinds._repr_mimebundle_()[0]


def test_nothing_profiled_is_said() -> None:
    assert str(grouped((), {})) == "No node was profiled."
    nothing = replace(NODES[2], time_s=0.0)
    assert str(grouped((nothing,), {})) == "No node computed anything."


def test_the_kind_is_read_from_kernel_and_group() -> None:
    from onnx import helper

    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "a", kernel_shape=[3, 3], group=8),
        helper.make_node("FusedConv", ["a", "w"], ["b"], "b", kernel_shape=[1, 1]),
        helper.make_node("Conv", ["b", "w"], ["c"], "c"),
        helper.make_node("Relu", ["c"], ["d"], "d"),
    ]
    model = helper.make_model(helper.make_graph(nodes, "g", [], []))
    assert kinds_of(model) == {"a": "depthwise 3×3", "b": "1×1", "c": "of unknown size"}
