"""Rules about accuracy: each speaks where accuracy is lost, and is silent on a sound config."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from onnx import helper

from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.factories.profiled_configs import FLOAT, machine, model
from tests.features.findings.evidence import evidence, say
from tests.features.findings.test_rules import weight
from workbench.core.bundle.preparation import CalibrationRecord, Preparation
from workbench.core.config import Config, DynamicInt8, StaticInt8
from workbench.features.accuracy.layers_record import LayerError, TensorError
from workbench.features.findings.rule import look
from workbench.features.findings.weights import WeightScan

NODES = [("m", "MatMul", ("x", "w"), 90), ("g", "Conv", ("m", "v"), 10)]
DYNAMIC, STATIC = Config(precision=DynamicInt8()), Config(precision=StaticInt8())
OLD = machine(flags=("avx2",))  # without VNNI
ARM = replace(machine(flags=("asimddp",)), platform="Linux-6.1-aarch64")


def facts(config: Config, **known: Any) -> Any:
    return evidence(NODES, [("w", FLOAT), ("v", FLOAT)], config=config, **known)


def weights(**changes: Any) -> WeightScan:
    return WeightScan((weight("w", **changes),))


def test_channels_of_different_size_get_a_scale_each() -> None:
    wide = weights(column_range=40.0)
    (finding,) = say("one-scale-for-wide-channels", facts(DYNAMIC, source_weights=wide))
    assert finding.nodes == ("m",)
    assert finding.fix.config == Config(precision=DynamicInt8(per_channel=True))
    assert (finding.gain.subject, finding.is_small) == ("accuracy", False)
    for config, scan in (
        (Config(), wide),
        (STATIC, wide),  # a scale for each channel is its default
        (DYNAMIC, weights(channel_range=40.0)),  # the rows of a product are no channels
        (DYNAMIC, weights(column_range=4.0)),
    ):
        assert say("one-scale-for-wide-channels", facts(config, source_weights=scan)) == []


@pytest.mark.parametrize(("transposed", "axis"), [(0, "column_range"), (1, "channel_range")])
def test_the_channels_of_a_gemm_are_its_columns_unless_it_transposes(transposed: int, axis: str) -> None:
    gemm = model([("m", "Gemm", ("x", "w"), 90)], [("w", FLOAT)])
    gemm.graph.node[0].attribute.append(helper.make_attribute("transB", transposed))
    for name in ("column_range", "channel_range"):
        known = facts(DYNAMIC, source_weights=weights(**{name: 40.0}), source_structure=gemm)
        assert len(say("one-scale-for-wide-channels", known)) == (name == axis)


@pytest.mark.parametrize(
    ("config", "on", "speaks"),
    [
        (Config(precision=StaticInt8(reduce_range=False)), OLD, "saturating-int8"),
        (STATIC, OLD, ""),  # 7 bits are its default
        (Config(precision=StaticInt8(reduce_range=False)), machine(), ""),
        (Config(precision=DynamicInt8(reduce_range=True)), machine(), "seven-bits-for-nothing"),
        (Config(precision=DynamicInt8(reduce_range=True)), ARM, "seven-bits-for-nothing"),
        (Config(precision=DynamicInt8(reduce_range=True)), OLD, ""),
        (Config(), OLD, ""),
    ],
)
def test_bits_of_the_weights_fit_the_processor(config: Config, on: Any, speaks: str) -> None:
    known = facts(config, machine=on)
    findings = [*say("saturating-int8", known), *say("seven-bits-for-nothing", known)]
    assert [finding.id for finding in findings] == ([speaks] if speaks else [])
    for finding in findings:
        assert finding.fix.config is not None
        assert say(speaks, facts(finding.fix.config, machine=on)) == []


@pytest.mark.parametrize(
    ("count", "real", "expected"),
    [
        (32, False, ["random-calibration"]),
        (20, True, ["few-calibration-examples"]),
        (200, True, []),
    ],
)
def test_calibration_needs_many_real_examples(count: int, real: bool, expected: list[str]) -> None:
    calibration = CalibrationRecord("photos (folder)", "resized", count, None, "0" * 64, real)
    prepared = Preparation((), calibration, 0.0, 0, None, ())
    known = facts(STATIC, preparation=prepared)
    findings = [*say("random-calibration", known), *say("few-calibration-examples", known)]
    assert [finding.id for finding in findings] == expected
    assert say("random-calibration", facts(STATIC, preparation=replace(prepared, calibration=None))) == []


def test_outliers_set_a_range() -> None:
    layers = examples.layer_errors()
    tensor = TensorError("t", "m", 10.0, 12.0, -90.0, 90.0, 30.0, 64)
    (finding,) = say("outliers-set-the-range", facts(STATIC, layers=replace(layers, tensors=(tensor,))))
    assert finding.nodes == ("m",)
    assert finding.fix.config == Config(precision=StaticInt8(calibrator="percentile"))
    usual = replace(tensor, outlier_ratio=2.0)
    for config, seen in ((STATIC, usual), (DYNAMIC, tensor), (finding.fix.config, tensor)):
        assert say("outliers-set-the-range", facts(config, layers=replace(layers, tensors=(seen,)))) == []


def layer(name: str, decibels: float | None) -> LayerError:
    return LayerError(name, "Conv", decibels, None, None, None)


def test_one_layer_causes_most_of_the_error() -> None:
    loud = tuple(layer(name, 10.0 if name == "m" else 40.0) for name in ("m", "g", "h", "i"))
    known = facts(STATIC, layers=replace(examples.layer_errors(), layers=loud))
    (finding,) = say("sensitive-layer", known)
    assert finding.title == "1 of 4 layers causes most of the error"
    assert finding.fix.config == Config(precision=StaticInt8(exclude=("m",)))
    even = tuple(layer(name, 20.0) for name in "mghi")
    quiet = tuple(layer(name, 50.0 if name == "m" else 70.0) for name in "mghi")
    for layers in (even, quiet, (), (layer("m", None),)):
        silent = facts(STATIC, layers=replace(examples.layer_errors(), layers=layers))
        assert say("sensitive-layer", silent) == []


def test_a_sensitivity_study_counts_before_the_layer_errors() -> None:
    study = examples.sensitivity()
    row = study.rows[0]
    rows = (replace(row, name="a", nodes=("m",), error=0.2), *(replace(row, error=0.01),) * 4)
    known = facts(STATIC, sensitivity=replace(study, rows=rows), layers=examples.layer_errors())
    (finding,) = say("sensitive-layer", known)
    assert finding.nodes == ("m",)
    exact = replace(study, rows=tuple(replace(row, error=0.0) for row in rows))
    assert say("sensitive-layer", facts(STATIC, sensitivity=exact)) == []


def test_a_lower_accuracy_with_its_whole_interval() -> None:
    table = examples.accuracy()
    score = table.scores[1]
    lost = replace(score, against=replace(score.against, value=-0.03, low=-0.05, high=-0.01))
    known = facts(STATIC, label="B", accuracy=replace(table, scores=(table.scores[0], lost)))
    (finding,) = say("accuracy-lost", known)
    assert "3 points lower" in finding.title
    assert say("accuracy-lost", facts(STATIC, label="B", accuracy=table)) == [], "its interval ends at 0"
    assert say("accuracy-lost", replace(known, label="A")) == []


def test_outputs_far_from_the_baseline() -> None:
    row = replace(ordinary().agreement[0], label="B", sqnr_db=12.0)
    (finding,) = say("outputs-far-from-float", facts(STATIC, agreement=(row,)))
    assert "differ" in finding.title
    assert say("outputs-far-from-float", facts(STATIC, agreement=(replace(row, sqnr_db=30.0),))) == []
    assert say("outputs-far-from-float", facts(Config(), agreement=(row,))) == []


def test_channels_that_a_concat_destroys() -> None:
    row = replace(ordinary().agreement[0], label="B", agrees=False, part="channel 0", tail=("g",))
    (finding,) = say("channels-lost-in-a-common-scale", facts(STATIC, agreement=(row,)))
    assert finding.nodes == ("g",)
    assert finding.fix.config == Config(precision=StaticInt8(exclude=("g",)))
    done = Config(precision=StaticInt8(exclude=("g",)))
    for config, agreement in ((done, row), (DYNAMIC, row), (STATIC, replace(row, tail=()))):
        assert say("channels-lost-in-a-common-scale", facts(config, agreement=(agreement,))) == []


def test_rules_about_quantization_looked_where_nothing_is_quantized() -> None:
    rules = {"sensitive-layer", "outliers-set-the-range"}
    assert rules <= set(look(facts(Config())).looked)
    missing = [entry for entry in look(facts(STATIC)).not_looked if entry.id in rules]
    assert {entry.reason for entry in missing} == {"no layer errors"}
