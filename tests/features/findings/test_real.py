"""Flaws planted into sound models, found by the rules and mended by their fixes, on real ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.core.models import tiny
from tests.features.explain.attention import Attention
from workbench.features.findings.gather import gather

pytestmark = pytest.mark.real

CHANNELS, SIZE = 32, 24


def convolutions(path: Path, *, scale: float = 1.0, as_inputs: bool = False) -> Path:
    """A small convolutional net with fixed weights."""
    random = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(
            (random.standard_normal((CHANNELS, CHANNELS, 3, 3)) * 0.05 * scale).astype(np.float32),
            f"w{index}",
        )
        for index in range(3)
    ]
    nodes, last = [], "x"
    for index in range(3):
        conv = helper.make_node("Conv", [last, f"w{index}"], [f"c{index}"], f"conv{index}", pads=[1, 1, 1, 1])
        nodes += [conv, helper.make_node("Relu", [f"c{index}"], [f"r{index}"], f"relu{index}")]
        last = f"r{index}"
    shape = [1, CHANNELS, SIZE, SIZE]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    if as_inputs:
        inputs += [helper.make_tensor_value_info(w.name, TensorProto.FLOAT, list(w.dims)) for w in weights]
    outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, shape)]
    graph = helper.make_graph(nodes, "net", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path


def test_weights_that_are_inputs_are_found_in_a_real_model(tmp_path: Path) -> None:
    findings = wb.findings(convolutions(tmp_path / "net.onnx", as_inputs=True))
    assert findings["weights-are-inputs"].record.confidence == "sure"
    sound = wb.findings(convolutions(tmp_path / "sound.onnx"))
    assert "weights-are-inputs" not in {finding.record.id for finding in sound}


def hard_swishes(path: Path, blocks: int = 3) -> Path:
    """Convolutions with batch normalization and hard swish, which ORT folds and lays out anew."""
    random = np.random.default_rng(0)
    weights, nodes, last = {}, [], "x"
    weights["three"], weights["zero"], weights["six"] = (np.float32(value) for value in (3, 0, 6))
    for index in range(blocks):
        weights[f"w{index}"] = (random.standard_normal((CHANNELS, CHANNELS, 3, 3)) * 0.05).astype(np.float32)
        for name in ("scale", "shift", "mean", "var"):
            weights[f"{name}{index}"] = random.uniform(0.5, 1.5, CHANNELS).astype(np.float32)
        norm = [f"c{index}", *(f"{name}{index}" for name in ("scale", "shift", "mean", "var"))]
        nodes += [
            helper.make_node("Conv", [last, f"w{index}"], [f"c{index}"], f"conv{index}", pads=[1, 1, 1, 1]),
            helper.make_node("BatchNormalization", norm, [f"n{index}"], f"norm{index}"),
            helper.make_node("Add", [f"n{index}", "three"], [f"a{index}"], f"add{index}"),
            helper.make_node("Clip", [f"a{index}", "zero", "six"], [f"l{index}"], f"clip{index}"),
            helper.make_node("Mul", [f"n{index}", f"l{index}"], [f"m{index}"], f"mul{index}"),
            helper.make_node("Div", [f"m{index}", "six"], [f"d{index}"], f"div{index}"),
        ]
        last = f"d{index}"
    shape = [1, CHANNELS, SIZE, SIZE]
    made = tiny.model(nodes, [tiny.tensor("x", shape)], [tiny.tensor(last, shape)], weights)
    onnx.save(made, path)
    return path


def test_batch_normalization_that_ort_folded_is_no_finding(tmp_path: Path) -> None:
    found = wb.findings(hard_swishes(tmp_path / "swish.onnx"))
    assert "conv-batch-norm-not-folded" not in {finding.record.id for finding in found}


def test_rules_read_the_passes_one_by_one(tmp_path: Path) -> None:
    model = wb.load(convolutions(tmp_path / "net.onnx"))
    explained = gather(model, wb.Config(), model.inputs(seed=0)).explained
    assert explained is not None
    assert explained.provenance.followed


def test_an_unfused_attention_is_a_finding_on_the_cpu_too(tmp_path: Path) -> None:
    onnx.save(Attention(opset=17).model(), tmp_path / "attention.onnx")
    record = wb.findings(tmp_path / "attention.onnx")["attention-not-fused"].record
    assert record.confidence == "maybe"
    assert record.gain.share is None
    assert record.fix.config == wb.Config(fusion=wb.TransformerFusion())
    assert any("operator set is 17" in line for line in record.evidence)


def test_casts_that_round_are_left_to_the_export(tmp_path: Path) -> None:
    model = onnx.load(convolutions(tmp_path / "net.onnx"))
    model.graph.node[-1].output[0] = "wide"
    model.graph.node.extend(
        [
            helper.make_node("Cast", ["wide"], ["half"], "down", to=TensorProto.FLOAT16),
            helper.make_node("Cast", ["half"], ["r2"], "up", to=TensorProto.FLOAT),
        ]
    )
    onnx.save(model, tmp_path / "casts.onnx")
    record = wb.findings(tmp_path / "casts.onnx")["cast-pairs"].record
    assert set(record.nodes) == {"down", "up"}
    assert (record.fix.kind, record.fix.config, record.fix.rewrite) == ("export", None, None)


def test_a_fix_is_tried_and_kept_or_not_with_a_reason(tmp_path: Path) -> None:
    level = wb.Config(level="disabled")
    findings = wb.findings(convolutions(tmp_path / "net.onnx"), level)
    result = findings["level-below-all"].try_fix(3.0, progress=False, keep=False)
    assert result.comparison.runs[1].config == wb.Config()
    assert result.config == (wb.Config() if result.kept else level)
    assert result.reason


def test_findings_of_a_comparison_are_kept_with_it(tmp_path: Path) -> None:
    model = wb.load(convolutions(tmp_path / "net.onnx"))
    result = wb.compare(model, wb.Config(level="basic"), wb.Config(), budget_s=2, progress=False, keep=False)
    findings = result.findings()
    assert set(findings.by_label) == {"A", "B"}
    opened = wb.open(result.save(tmp_path / "with.ortbench"))
    assert [str(finding) for finding in opened.findings()] == [str(finding) for finding in findings]
