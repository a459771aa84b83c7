"""Odd models: no rule crashes, whatever the graph looks like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import workbench as wb
from benchmarks.flaws.in_operators import loop
from benchmarks.flaws.nets import images
from tests.features.findings.evidence import evidence
from workbench.features.findings.record import FindingsRecord
from workbench.features.findings.rule import look

MANY = 3_000


def failed(record: FindingsRecord) -> list[str]:
    return [f"{entry.id}: {entry.reason}" for entry in record.not_looked if entry.reason.startswith("failed")]


def test_thousands_of_nodes() -> None:
    kinds = [
        "MatMul",
        "Conv",
        "Einsum",
        "Pow",
        "Cast",
        "Transpose",
        "Shape",
        "Erf",
        "Div",
        "Relu",
        "Tanh",
        "Pad",
    ]
    names = ["x", *(f"n{number}" for number in range(MANY))]
    nodes = [(names[n + 1], kinds[n % len(kinds)], (names[n], "w"), 1 + n % 7) for n in range(MANY)]
    assert failed(look(evidence(nodes, [("w", TensorProto.FLOAT)]))) == []


def with_a_function() -> onnx.ModelProto:
    opsets = [helper.make_opsetid("", 20)]
    nodes = [helper.make_node("Relu", ["a"], ["b"]), helper.make_node("Tanh", ["b"], ["c"])]
    model = images(0).model()
    model.functions.append(helper.make_function("own", "bent", ["a"], ["c"], nodes, opsets))
    model.opset_import.append(helper.make_opsetid("own", 1))
    model.graph.node[1].op_type, model.graph.node[1].domain = "bent", "own"
    return model


def renamed(name: str) -> onnx.ModelProto:
    model = images(0).model()
    for node in model.graph.node:
        node.name = name
    return model


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [with_a_function, lambda: loop(0).model, lambda: renamed(""), lambda: renamed("same")],
    ids=["functions", "subgraphs", "no names", "one name for all"],
)
def test_odd_graphs(make: Callable[[], onnx.ModelProto], tmp_path: Path) -> None:
    onnx.save(make(), tmp_path / "odd.onnx", save_as_external_data=True, location="w.bin", size_threshold=64)
    record = wb.findings(tmp_path / "odd.onnx").record
    assert isinstance(record, FindingsRecord)
    assert failed(record) == []
    assert record.looked
