"""Constant nodes of the branches of an If: the explanation holds those of the file that ORT saves."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

import workbench as wb
from tests.core.models import tiny

pytestmark = pytest.mark.real

LEVELS = {
    "disabled": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


def constant(name: str, value: float) -> NodeProto:
    tensor = numpy_helper.from_array(np.full(4, value, np.float32))
    return helper.make_node("Constant", [], [f"c{name}"], f"constant{name}", value=tensor)


def branch(name: str, depth: int, *, foldable: bool) -> GraphProto:
    """A constant added to x, with another If inside; a foldable one computes on its constant first."""
    nodes, added = [constant(name, 1.0)], f"c{name}"
    if foldable:
        nodes.append(helper.make_node("Neg", [added], [f"n{name}"], f"neg{name}"))
        added = f"n{name}"
    nodes.append(helper.make_node("Add", ["x", added], [f"a{name}"], f"add{name}"))
    out = f"a{name}"
    if depth:
        bodies = {
            "then_branch": branch(f"{name}t", depth - 1, foldable=foldable),
            "else_branch": helper.make_graph(
                [constant(f"{name}e", 2.0)], f"only{name}", [], [tiny.tensor(f"c{name}e", [4])]
            ),
        }
        nodes.append(helper.make_node("If", ["flag"], [f"i{name}"], f"if{name}", **bodies))
        nodes.append(helper.make_node("Mul", [out, f"i{name}"], [f"m{name}"], f"mul{name}"))
        out = f"m{name}"
    return helper.make_graph(nodes, f"branch{name}", [], [tiny.tensor(out, [4])])


def nested(*, foldable: bool) -> ModelProto:
    bodies = {
        "then_branch": branch("_t", 2, foldable=foldable),
        "else_branch": branch("_e", 1, foldable=False),
    }
    nodes = [
        constant("", 3.0),
        helper.make_node("Mul", ["x", "c"], ["scaled"], "scale"),
        helper.make_node("If", ["flag"], ["chosen"], "if", **bodies),
        helper.make_node("Add", ["scaled", "chosen"], ["y"], "sum"),
    ]
    inputs = [tiny.tensor("x", [4]), tiny.tensor("flag", [], TensorProto.BOOL)]
    return tiny.model(nodes, inputs, [tiny.tensor("y", [4])])


def saved_by_ort(path: Path, level: str) -> GraphProto:
    options = ort.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.optimized_model_filepath = str(path.with_name("saved.onnx"))
    options.log_severity_level = 4
    ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return onnx.load(path.with_name("saved.onnx")).graph


def op_types(graph: GraphProto) -> list[str]:
    inner = [
        op_type
        for node in graph.node
        for attribute in node.attribute
        if attribute.HasField("g")
        for op_type in op_types(attribute.g)
    ]
    return sorted([*inner, *(node.op_type for node in graph.node)])


@pytest.mark.parametrize("foldable", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_the_explanation_has_the_constants_of_the_file_that_ort_saves(
    level: Literal["disabled", "basic", "all"], foldable: bool, tmp_path: Path
) -> None:
    path = tiny.save(nested(foldable=foldable), tmp_path)
    explanation = wb.explain(path, wb.Config(level=level), keep=False)
    optimized = explanation.record.optimized
    assert sorted(node.op_type for node in optimized.nodes) == op_types(saved_by_ort(path, level))
    assert explanation.record.provenance.unknown == explanation.record.provenance.untraced == 0


def test_unoptimized_branches_keep_their_constants_at_every_depth(tmp_path: Path) -> None:
    explanation = wb.explain(
        tiny.save(nested(foldable=True), tmp_path), wb.Config(level="disabled"), keep=False
    )
    fates = {
        row.node: row.fate
        for row in explanation.record.provenance.account.sources
        if row.op_type == "Constant"
    }
    assert fates.pop("constant") == "folded"
    assert len(fates) == 8
    assert set(fates.values()) == {"kept"}
