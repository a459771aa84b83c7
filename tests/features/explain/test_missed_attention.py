"""Whether ORT fuses an attention; where it does not, that the condition we name is the broken one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto

from tests.features.explain.attention import WIDTH, Attention
from workbench.core.config import Config
from workbench.core.models import Model
from workbench.features.explain.explanation import Explained, explain

pytestmark = pytest.mark.real
FIXED = (2, 4, WIDTH)


def explanation_of(attention: Attention, folder: Path, config: Config | None = None) -> Explained:
    path = folder / "model.onnx"
    onnx.save(attention.model(), path)
    return explain(Model(path, "attention"), config or Config())


def fused(explanation: Explained) -> bool:
    return "Attention" in {node.op_type for node in explanation.optimized.nodes}


@pytest.mark.parametrize(
    "changes", [{}, {"opset": 11}, {"mask_type": TensorProto.INT32}, {"dims": ("batch", 4, WIDTH)}]
)
def test_what_ort_fuses_is_not_missed(changes: dict, tmp_path: Path) -> None:
    explanation = explanation_of(replace(Attention(), **changes), tmp_path)
    assert fused(explanation)
    assert [place for place in explanation.passes.missed if place.pattern == "attention"] == []


@pytest.mark.parametrize(
    ("changes", "reason_from", "words"),
    [
        ({"opset": 13}, "the graph", "operator set is 13"),
        ({"opset": 20, "axis": -1}, "the graph", "operator set is 20"),
        ({"scale": "Mul"}, "the graph", "stands Mul, then Add"),
        ({"scale": ""}, "the graph", "stands Add"),
        ({"masked": False}, "the graph", "stands Div, where"),
        ({"bias": "kv"}, "the graph", "no bias is added to the query"),
        ({"bias": "qv"}, "the graph", "no bias is added to the key"),
        ({"bias": "qk"}, "the graph", "no bias is added to the value"),
        ({"bias_first": True}, "the graph", "the bias of the value stands first in its Add"),
        ({"computed_shape": True}, "the graph", "the value takes a shape that the graph computes"),
        ({"norm_before": True}, "the graph", "has the readers 3 MatMul;"),
        ({"read_twice": True}, "the graph", "has the readers 1 Add, 3 MatMul, 1 Relu"),
        ({"weight_is_input": True}, "the graph", "the weight of the query is no constant"),
        ({"dims": FIXED}, "the graph", "MatMulAddFusion made a Gemm of the projections"),
        ({"root": 3.0}, "ORT", "qk_div const not matched"),
        ({"axis": 2}, "ORT", "Softmax attribute axis is expected to be 3"),
        ({"mask_type": TensorProto.BOOL}, "ORT", "Mask data type is not int32"),
    ],
    ids=str,
)
def test_the_broken_condition_is_named_alone(
    changes: dict, reason_from: str, words: str, tmp_path: Path
) -> None:
    explanation = explanation_of(replace(Attention(), **changes), tmp_path)
    assert not fused(explanation)
    (place,) = [place for place in explanation.passes.missed if place.pattern == "attention"]
    assert place.reason_from == reason_from
    assert words in (place.reason or "")
    if reason_from == "the graph" and not changes.get("bias_first"):  # which names all three
        assert "; " not in (place.reason or "").replace("; it looks", "").replace("; with MatMulAdd", "")


def test_the_advice_on_fixed_dims_is_right(tmp_path: Path) -> None:
    attention = replace(Attention(), dims=FIXED)
    assert not fused(explanation_of(attention, tmp_path))
    assert fused(explanation_of(attention, tmp_path, Config(disabled_passes=("MatMulAddFusion",))))
