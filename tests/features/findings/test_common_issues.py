"""The nine common issues (docs/common-issues.md): each shown by a sample, found, fixed and measured.

What takes a GPU is found in a placement, a run or a config made by hand. No test asserts a time: what is
asserted is the finding with its nodes, the fix that was applied, the outputs, and that a measurement stands
beside them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import workbench as wb
from benchmarks.flaws import in_operators
from benchmarks.flaws.nets import images, products
from benchmarks.graphs import explained_of
from tests.factories.graphs import graph, node
from tests.factories.runs import block, process, run
from tests.features.findings.evidence import evidence, say
from workbench.core.config import Config, DynamicInt8, StaticInt8
from workbench.core.cpu import usable_cores
from workbench.features.cold_start.record import ColdStartRecord, ProcessStart
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.gather import gather
from workbench.features.findings.known import Known
from workbench.features.findings.result import Finding, FixTarget
from workbench.features.profile.memory.by_node import MemoryRecord

BUDGET_S = 3.0
MIB = 1 << 20
NODES = [("c", "Conv", ("x", "w"), 90)]
CUDA = Config(providers=("cuda", "cpu"))
VERDICTS = ("faster", "slower", "tie", "unknown")
TEXT = Config(disabled_passes=("SkipLayerNormFusion",))


def saved(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(model, path)
    return path


def tried(finding: Finding) -> FixResult:
    """Try the fix; what it gives must be the same outputs, a measurement of both, and a reason."""
    result = finding.try_fix(BUDGET_S, progress=False, keep=False)
    before, after = result.comparison.runs
    assert after.config == finding.fix.config
    assert (before.failure, after.failure) == (None, None)
    assert all(row.agrees for row in result.comparison.agreement)
    assert result.comparison.verdict.kind in VERDICTS
    assert before.latency.samples_s
    assert after.latency.samples_s
    assert result.reason
    return result


def kinds_that_ran(model: Any, config: Config) -> set[str]:
    return set(wb.profile(model, config).to_frame()["op_type"].dropna())


# 1. A provider falls back


@pytest.mark.real
@pytest.mark.slow
def test_a_provider_that_falls_back_is_named_with_its_reason() -> None:
    findings = wb.findings("digits-conv", CUDA)
    finding = findings["provider-did-not-load"]
    assert finding.title.startswith("CUDAExecutionProvider did not load")
    assert (finding.confidence, finding.fix.code) == ("sure", "wb.doctor()")
    assert finding.evidence[0]
    mended = CUDA.replace(providers=("cpu",))
    refused = wb.compare("digits-conv", CUDA, mended, budget_s=BUDGET_S, progress=False, keep=False)
    assert refused.verdict.reason.startswith("A did not run on CUDA: nothing was measured")
    result = wb.compare(
        "digits-conv", CUDA, mended, budget_s=BUDGET_S, allow_fallback=True, progress=False, keep=False
    )
    assert {run.providers for run in result.runs} == {("CPUExecutionProvider",)}
    assert result.verdict.kind in VERDICTS
    assert "provider-did-not-load" not in {found.id for found in wb.findings("digits-conv", mended)}


# 2. Fusions are missing


@pytest.mark.real
@pytest.mark.slow
def test_a_missing_fusion_is_found_at_its_nodes_and_made_by_a_rewrite(tmp_path: Path) -> None:
    planted = in_operators.half_first_gelu(0)
    path = saved(planted.model, tmp_path)
    finding = wb.findings(path, TEXT)["gelu-not-fused"]
    assert set(finding.nodes) <= set(planted.nodes)
    assert "Erf" in kinds_that_ran(path, TEXT)
    result = tried(finding)
    assert kinds_that_ran(path, finding.fix.config) >= {"Gelu"}
    assert result.comparison.runs[1].preparation.steps[0].did == "gelu-to-one-node applied 2 times"
    assert "gelu-not-fused" not in {found.id for found in wb.findings(path, finding.fix.config)}


# 3. Threads contend


@pytest.mark.real
@pytest.mark.slow
def test_threads_that_contend_for_the_cores() -> None:
    many = Config(intra_op_threads=4 * usable_cores())
    finding = wb.findings("digits-conv", many)["too-many-threads"]
    assert finding.fix.config.intra_op_threads <= usable_cores()
    result = tried(finding)
    assert [run.threads for run in result.comparison.runs] == [
        many.intra_op_threads,
        finding.fix.config.intra_op_threads,
    ]


def test_inter_op_threads_of_one_are_no_remedy() -> None:
    """The article advises inter_op = 1; it does nothing in the sequential mode, and the finding says so."""
    chain = [("a", "Relu", ("x",), 10), ("b", "Relu", ("a",), 10)]
    (finding,) = say("parallel-chain", evidence(chain, config=Config(execution_mode="parallel")))
    assert finding.fix.config == Config()
    assert "inter_op_threads=1 alone does nothing" in finding.caution


# 4. Memory grows or fragments


@pytest.mark.real
@pytest.mark.slow
def test_memory_that_grows_with_later_sizes(tmp_path: Path) -> None:
    planted = in_operators.shapes(0)
    path = saved(planted.model, tmp_path)
    small, large = ({"x": np.ones((batch, 8, 16), np.float32)} for batch in (1, 64))
    findings = wb.findings(path, inputs=[small, large])
    finding = findings["larger-shapes-later"]
    assert "batch=64" in finding.evidence[0]
    again = wb.findings(path, inputs=[large, small])
    assert "larger-shapes-later" not in {found.id for found in again}


@pytest.mark.real
@pytest.mark.slow
def test_an_arena_that_holds_memory_is_turned_off_and_measured(tmp_path: Path) -> None:
    model = wb.load(saved(images(0).model(), tmp_path))
    (record,) = say(
        "arena-holds-memory", evidence(NODES, memory=MemoryRecord((), None, None, 30 * MIB, 90 * MIB))
    )
    assert record.fix.config == Config(cpu_arena=False)
    assert "kSameAsRequested does not help" in record.caution
    result = tried(Finding(record, Config(), FixTarget(model)))
    assert all(run.peak_rss_bytes for run in result.comparison.runs)
    assert result.reason.startswith("memory: ")
    assert "MiB less, measured" in result.prediction


# 5. Data are copied to and fro


def test_copies_in_the_middle_of_the_graph_are_named_with_the_operator_that_causes_them() -> None:
    source = graph(node("a", "MatMul", ("x", "w"), "s"), node("n", "NonZero", ("s",), "t"),
                   node("b", "MatMul", ("t", "v"), "y"))  # fmt: skip
    final = graph(
        node("a", "MatMul", ("x", "w"), "s"), node("out", "MemcpyToHost", ("s",), "s_cpu"),
        node("n", "NonZero", ("s_cpu",), "t_cpu"), node("back", "MemcpyFromHost", ("t_cpu",), "t"),
        node("b", "MatMul", ("t", "v"), "y"),
    )  # fmt: skip
    explained = explained_of(source, final, on_cpu=("NonZero",))
    (finding,) = say("copies-between-devices", evidence(NODES, config=CUDA, explained=explained))
    assert finding.nodes == ("out", "back")
    assert finding.fix.kind == "export"
    (bound,) = say("copies-of-inputs", evidence(NODES, config=CUDA))
    assert bound.fix.config == CUDA.replace(io_binding=True)
    assert say("copies-of-inputs", evidence(NODES, config=bound.fix.config)) == []


# 6. Dynamic shapes


@pytest.mark.real
@pytest.mark.slow
def test_shapes_that_are_computed_in_every_run_are_fixed(tmp_path: Path) -> None:
    planted = in_operators.shapes(0)
    path = saved(planted.model, tmp_path)
    finding = wb.findings(path)["shape-arithmetic"]
    assert len(set(finding.nodes) & set(planted.nodes)) > len(planted.nodes) / 2
    fixed = finding.fix.config
    assert set(dict(fixed.free_dimensions)) == {"batch", "length"}
    assert "SkipLayerNormFusion" in fixed.disabled_passes, "which known sizes would turn on"
    tried(finding)
    assert "Shape" in kinds_that_ran(path, Config())
    assert "Shape" not in kinds_that_ran(path, fixed)


# 7. Quantization is slower


@pytest.mark.real
@pytest.mark.slow
def test_quantization_that_is_slower_is_replaced_by_a_static_one(tmp_path: Path) -> None:
    path, config = saved(images(0).model(), tmp_path), Config(precision=DynamicInt8())
    finding = wb.findings(path, config, calibration="random")["dynamic-int8-convolutions"]
    assert finding.confidence == "sure"
    assert "ConvInteger" in kinds_that_ran(path, config)
    assert finding.fix.config == Config(precision=StaticInt8())
    result = finding.try_fix(BUDGET_S, progress=False, keep=False)
    assert result.comparison.runs[1].preparation.calibration is not None
    assert result.comparison.agreement[0].sqnr_db > 10
    assert result.comparison.verdict.kind in VERDICTS


# 8. The first run is slow


@pytest.mark.real
@pytest.mark.slow
def test_a_slow_first_run_is_found_where_it_was_measured(tmp_path: Path) -> None:
    model = wb.load(saved(products(0).model(), tmp_path))
    inputs = model.inputs(seed=0)
    result = wb.compare(model, Config(), TEXT, inputs=inputs, budget_s=BUDGET_S, progress=False, keep=False)
    measured = result.runs[0]
    assert measured.first_run_s is not None
    slow = [replace(record, first_run_s=30 * measured.latency.median_s) for record in measured.processes]
    facts = gather(model, Config(), inputs, known=Known(run=replace(measured, processes=tuple(slow))))
    (finding,) = say("slow-first-run", facts)
    assert "30 times" in finding.title
    assert finding.fix.code == "session.run(None, inputs)"
    usual = [replace(record, first_run_s=measured.latency.median_s) for record in measured.processes]
    assert say("slow-first-run", replace(facts, run=replace(measured, processes=tuple(usual)))) == []


# 9. The load is slow


@pytest.mark.real
@pytest.mark.slow
def test_a_slow_load_is_mended_by_a_saved_graph(tmp_path: Path) -> None:
    model = wb.load(saved(images(1).model(), tmp_path))

    def started(load_s: float) -> ProcessStart:
        return ProcessStart(0.1, 0.2, load_s, 0.01, 0.001, None, None, None, None, None)

    slow = ColdStartRecord("A", (started(2.0),), (started(1.9),), (started(0.2),))
    (record,) = say("slow-load", evidence(NODES, cold=slow))
    assert record.fix.config == Config(saved_graph="onnx")
    result = tried(Finding(record, Config(), FixTarget(model)))
    assert all(run.load_s for run in result.comparison.runs)
    assert result.reason.startswith("load: ")
    assert " s less, measured" in result.prediction or "ms less, measured" in result.prediction


def test_an_engine_that_is_built_at_each_start_is_cached() -> None:
    asked = Config(providers=("tensorrt", "cuda", "cpu"))
    slow = run("A", [replace(process(1, [block(0.001)]), load_s=50.0)], config=asked)
    (finding,) = say("engine-built-at-each-start", evidence(NODES, config=asked, run=slow))
    assert finding.fix.config is not None
    for cache in ("trt_engine_cache_enable", "trt_timing_cache_enable"):
        assert finding.fix.config.providers[0].option(cache) in ("1", "True")
