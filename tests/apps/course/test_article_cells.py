"""Results of lessons stand in the article's tables by the names of their cells."""

from __future__ import annotations

from dataclasses import replace

from tests.factories import comparisons, results
from workbench.apps import course
from workbench.apps.course.article import article_data
from workbench.core.bundle.estimate import Estimate
from workbench.core.config import Config, Float16, StaticInt8
from workbench.core.models.graph_walk import read_graph
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.compare.result import Comparison
from workbench.features.doctor.records import Doctor, ProviderState, Survey
from workbench.features.explain.placement.prediction import predict_all
from workbench.features.findings.record import NotLooked
from workbench.features.findings.result import Findings
from workbench.features.findings.rule import rules
from workbench.features.variants.levels import Levels

STATIC = Config(precision=StaticInt8())


def test_levels_stand_in_a_row_of_their_table() -> None:
    cells = course.level_cells("ViT-Base", Levels(results.levels()))
    assert cells["levels-latency/ViT-Base/none_ms"] == "model: 2 ms"
    assert cells["levels-latency/ViT-Base/best_speedup"] == "model: 1.50 times (faster)"
    assert len(course.compare_with_article("levels-latency", cells).rows) == len(cells) == 3


def test_a_gain_that_was_not_measured_or_not_settled_is_called_so() -> None:
    record = results.levels()
    first, last = record.rows
    open_ = Levels(replace(record, rows=(first, replace(last, verdict="unknown"))))
    assert course.level_cells("ViT-Base", open_)["levels-latency/ViT-Base/best_speedup"] == (
        "model: 1.50 times (not settled)"
    )
    failed = replace(last, latency_s=None, ratio=Estimate(), verdict="unknown")
    cells = course.level_cells("ViT-Base", Levels(replace(record, rows=(first, failed))))
    assert cells["levels-latency/ViT-Base/all_ms"] is None
    assert cells["levels-latency/ViT-Base/best_speedup"] is None


def test_precisions_stand_in_their_rows_and_others_need_a_gpu() -> None:
    runs = comparisons.drawn_run("A", 0.002), replace(comparisons.drawn_run("B", 0.001), config=STATIC)
    comparison = Comparison(comparisons.comparison(*runs))
    cells = course.precision_cells(comparison, AccuracyTable(results.accuracy()))
    compared = course.compare_with_article("quantization-bert", cells)
    own = {row.article.partition(":")[0]: row.own for row in compared.rows}
    assert own["quantization-bert/FP32/speedup"] == "tiny: the baseline"
    assert "× faster" in own["quantization-bert/Static INT8 (QDQ)/speedup"]
    assert own["quantization-bert/Static INT8 (QDQ)/f1_squad"] == "tiny: top-1 accuracy 97 % (95 to 99)"
    assert own["quantization-bert/Static INT8 (QDQ)/memory_mb"].endswith("at the peak of the process")
    assert own["quantization-bert/FP16 (CUDA)/latency_ms"] == "not measured: needs a GPU"
    assert own["quantization-bert/TensorRT FP16/latency_ms"] == "not measured: needs a GPU with TensorRT"


def test_a_precision_without_a_row_is_left_out() -> None:
    half = replace(comparisons.drawn_run("B", 0.001), config=Config(precision=Float16()))
    comparison = Comparison(comparisons.comparison(comparisons.drawn_run("A", 0.002), half))
    cells = course.precision_cells(comparison, AccuracyTable(results.accuracy()))
    assert cells["quantization-bert/FP32/speedup"] == "tiny: the baseline"
    assert course.compare_with_article("quantization-bert", cells).rows


def test_a_provider_has_its_state_here_and_its_predicted_share() -> None:
    state = ProviderState(
        "CUDAExecutionProvider", "does not load", "no library", ("libcublas",), "install it"
    )
    survey = Survey("1.31.1", "Release", (), (state,), (), None)
    doctor = Doctor(results.about().machine, (), survey, None, ())
    cells = course.provider_cells(doctor, predict_all(read_graph(course.split_graph())))
    assert cells["provider-ecosystem/CUDA/hardware"] == "does not load"
    assert cells["provider-ecosystem/QNN/hardware"] == "not in this ONNX Runtime"
    assert cells["provider-ecosystem/CoreML/limitation"] == "predicted: takes 8 of 9 nodes"
    assert "provider-ecosystem/CPU/limitation" not in cells
    assert len(course.compare_with_article("provider-ecosystem", cells).rows) == len(cells)


def test_each_provider_option_of_the_article_has_its_default() -> None:
    cells = course.option_cells()
    options = [row[0] for row in article_data().tables["options-in-code"].rows]
    assert len(cells) == sum(option.startswith(("cuda: ", "tensorrt: ")) for option in options) > 10
    assert cells["options-in-code/tensorrt: trt_engine_cache_path/article_value"] == "default: not set"
    assert len(course.compare_with_article("options-in-code", cells).rows) == len(cells)


def test_each_issue_has_what_its_rules_found() -> None:
    record = results.findings()
    finding = replace(record.findings[0], id="gelu-not-fused", title="GELU runs as several nodes")
    looked = ("gelu-not-fused", "layer-norm-not-fused", "parallel-chain")
    missing = (NotLooked("copies-of-inputs", "no GPU"), NotLooked("copies-between-devices", "no GPU"))
    record = replace(record, findings=(finding,), looked=looked, not_looked=missing)
    cells = course.issue_cells(Findings(record))
    assert cells["common-issues/missing fusions/fix"] == "GELU runs as several nodes: 2 of 4 rules looked"
    assert cells["common-issues/thread contention/fix"] == "nothing found: 1 of 4 rules looked"
    assert (
        cells["common-issues/data transfer/fix"] == "nothing found: 0 of 2 rules looked (the others: no GPU)"
    )
    assert len(course.compare_with_article("common-issues", cells).rows) == 5


def test_the_rules_of_each_issue_exist() -> None:
    table = article_data().tables["common-issues"]
    wanted = {rule for row in table.rows for rule in str(row[-1]).split(", ")}
    assert table.columns[-1] == "rules"
    assert wanted <= {rule.id for rule in rules()}
