"""Multiply-adds against onnx-tool, which shares no code with us, on the models that onnx ships."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import onnx
import onnx_tool
import pytest

from tests.features.profile.flops.folding import inferred_shapes
from workbench.features.profile.flops.counting import Costs, costs_of

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MODELS = sorted(LIGHT.glob("light_*.onnx"))
# onnx-tool counts one operation an element where we do, so these may be compared to the last one.
PER_ELEMENT = ("Relu", "Mul", "Add", "MaxPool")


@cache
def counted(path: Path) -> Costs:
    model = onnx.load(path)
    return costs_of(model, inferred_shapes(model, {}))


@cache
def their_macs(path: Path) -> Counter[str]:
    graph = onnx_tool.Model(str(path)).graph
    graph.shape_infer(None)
    graph.profile()
    macs: Counter[str] = Counter()
    for node in graph.nodemap.values():
        macs[node.op_type] += int(node.macs[0])
    return macs


def test_all_nine_are_there() -> None:
    assert len(MODELS) == 9


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_the_light_models_within_two_percent(path: Path) -> None:
    ours, theirs = counted(path), their_macs(path)
    assert ours.unknown == ()
    for kind in ("Conv", "Gemm"):  # theirs include the bias: an addition an output
        macs = sum(node.cost.macs or 0 for node in ours.nodes if node.op_type == kind)
        assert macs == pytest.approx(theirs[kind], rel=0.02)
    assert ours.macs == pytest.approx(theirs["Conv"] + theirs["Gemm"], rel=0.02)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_operations_an_element_are_the_same(path: Path) -> None:
    flops: Counter[str] = Counter()
    for node in counted(path).nodes:
        flops[node.op_type] += node.cost.flops or 0
    theirs = their_macs(path)
    for kind in PER_ELEMENT:
        assert flops[kind] == theirs[kind], kind
