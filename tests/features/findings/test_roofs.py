"""Nodes far below the machine's peaks: found in a roofline, with the cause of operator and type."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import workbench as wb
from tests.core.models import tiny
from tests.features.findings.evidence import evidence, say
from workbench.features.findings.evidence import Evidence
from workbench.features.profile.roofline.node_limits import NodeLimit, RooflineRecord
from workbench.features.profile.roofline.peaks import PeakRow

RULE = "far-below-its-roof"
CHAIN = [("p", "Pow", ("x", "e"), 900.0), ("m", "MatMul", ("p", "w"), 100.0)]


def limit(name: str, op_type: str, time_s: float, limit_s: float | None, calls: float = 1.0) -> NodeLimit:
    return NodeLimit(name, op_type, calls, time_s, 10, 10, limit_s, None if limit_s is None else "memory")


def found(*nodes: NodeLimit, run_s: float = 1e-3) -> list[Any]:
    peaks = PeakRow(2, 1e11, None, 1e10)
    return say(RULE, evidence(CHAIN, roofline=RooflineRecord(nodes, peaks, run_s)))


def with_convolution() -> Evidence:
    chain = [("c", "Conv", ("x", "w"), 900.0)]
    record = RooflineRecord((limit("c", "Conv", 9e-4, 5e-5),), PeakRow(2, 1e11, None, 1e10), 1e-3)
    return evidence(chain, [("w", TensorProto.FLOAT)], roofline=record)


def test_a_slow_node_has_its_cause() -> None:
    (finding,) = found(limit("p", "Pow", 9e-4, 5e-5), limit("m", "MatMul", 1e-4, 5e-5))
    assert finding.nodes == ("p",)
    assert "1 node far below the roof: Pow" in finding.title
    assert "5.6 % of the peak" in finding.evidence[0]
    assert "exponents other than 2 and 3" in finding.evidence[1]
    (convolution,) = say(RULE, with_convolution())
    assert any("blocked layout" in reason for reason in convolution.evidence)
    (unknown,) = found(limit("m", "MatMul", 9e-4, 5e-5))
    assert "no cause is known" in unknown.evidence[1]


def test_what_other_work_slowed_is_no_finding() -> None:
    disturbed = limit("p", "Pow", 9e-4, 5e-5)
    assert found(replace(disturbed, fastest_s=4.9e-4)) == []
    (finding,) = found(replace(disturbed, fastest_s=5.1e-4))
    assert "9.8 % of the peak" in finding.evidence[0]


@pytest.mark.parametrize(
    "node",
    [
        limit("p", "Pow", 9e-3, 9.1e-4),  # above a tenth
        limit("p", "Pow", 9e-3, None),  # no roof
        limit("p", "Pow", 5e-4, 1e-6),  # a twentieth of the run, and no more
        limit("p", "Pow", 9e-4, 1e-6, calls=4.0),  # short calls
    ],
)
def test_others_are_no_finding(node: NodeLimit) -> None:
    assert found(node, run_s=1e-2) == []


def test_without_a_roofline_the_rule_does_not_look() -> None:
    from workbench.features.findings.rule import look

    record = look(evidence(CHAIN))
    (missing,) = [row for row in record.not_looked if row.id == RULE]
    assert missing.reason == "no roofline"


def slow(op_type: str) -> Any:
    """Return a model of one node that has no fast kernel, and work enough to see it."""
    values = np.random.default_rng(0).integers(0, 5, (256, 256)).astype(np.int32)
    if op_type == "MatMul":
        node = helper.make_node("MatMul", ["x", "w"], ["y"], "slow")
        shape = [256, 256]
        return tiny.model(
            [node],
            [tiny.tensor("x", shape, TensorProto.INT32)],
            [tiny.tensor("y", shape, TensorProto.INT32)],
            {"w": values},
        )
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], "slow", mode="cubic")
    scales = np.array([1, 1, 2, 2], np.float32)
    shapes = [1, 8, 96, 96], [1, 8, 192, 192]
    return tiny.model([node], [tiny.tensor("x", shapes[0])], [tiny.tensor("y", shapes[1])], {"s": scales})


def examined(model: Any) -> wb.Findings:
    one = wb.Config(intra_op_threads=1)
    result = wb.compare(model, wb.Config(), one, budget_s=1, progress=False, keep=False)
    result.examine("roofline", "findings")
    return result.findings()


@pytest.mark.real
def test_a_product_of_whole_numbers_has_its_cause_by_type(tmp_path: Path) -> None:
    from workbench.features.findings.gather import gather
    from workbench.features.findings.known import Known

    model = wb.load(tiny.save(slow("MatMul"), tmp_path))
    row = limit("slow", "MatMul", 4e-3, 3e-4)
    known = Known(roofline=RooflineRecord((row,), PeakRow(2, 1e11, None, 1e10), 4e-3))
    (finding,) = say(RULE, gather(model, wb.Config(), model.inputs(), known=known))
    assert any("integers have no kernel" in reason for reason in finding.evidence)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "digits-conv",
        "mobilenetv2",
        *(
            pytest.param(name, marks=pytest.mark.release)
            for name in ("resnet50", "efficientnet-b0", "digits-vit")
        ),
    ],
)
def test_sound_samples_have_none(name: str) -> None:
    assert RULE not in {finding.record.id for finding in examined(name)}
