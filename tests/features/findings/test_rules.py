"""Each rule on the smallest evidence that makes it speak, and on evidence that must leave it silent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.factories import results
from tests.factories.profiled_configs import FLOAT, machine, model
from tests.factories.runs import block, process, run
from tests.features.findings.evidence import evidence, say
from workbench.core.config import Config, DynamicInt8, StaticInt8
from workbench.core.models.graph_walk import read_graph
from workbench.core.rewrites.constants import take_weights_out_of_inputs
from workbench.features.cold_start.record import ColdStartRecord, ProcessStart
from workbench.features.findings.weights import Weight, WeightScan
from workbench.features.profile.memory.by_node import MemoryRecord
from workbench.features.profile.profiled_config import NodeRun


def matrix(nodes, dims=(256, 256)):
    """The chain with a weight of this shape."""
    built = model(nodes)
    tensor = helper.make_tensor("w", FLOAT, list(dims), np.zeros(dims).reshape(-1).tolist())
    built.graph.initializer.append(tensor)
    return built


def with_weight(nodes, dims, **facts):
    """Evidence whose executed graph has the weight `w`."""
    built = matrix(nodes, dims)
    facts = evidence(nodes, structure=built, **facts)
    profiled = replace(facts.profiled, graph=read_graph(built))
    return replace(facts, profiled=profiled)


def weight(name="w", **changes):
    fields = {
        "name": name, "dims": (1024, 1024), "element": FLOAT, "size_bytes": 4 << 20, "sha1": "a",
        "sha1_transposed": "b", "zeros": 0, "denormals": 0, "non_finite": 0, "largest": 1.0,
        "channel_range": 1.0,
    }  # fmt: skip
    return Weight(**{**fields, **changes})


def test_a_slow_fused_operator_is_left_out() -> None:
    (finding,) = say(
        "skip-layer-norm-slow",
        evidence([("m", "MatMul", ("x", "w"), 80), ("s", "SkipLayerNormalization", ("m",), 20)]),
    )
    assert finding.nodes == ("s",)
    assert finding.fix.config == Config(disabled_passes=("SkipLayerNormFusion",))
    assert finding.gain.share == pytest.approx(0.16)
    assert finding.gain.speed_up == pytest.approx(1 / 0.84)
    assert finding.confidence == "sure"


def test_a_small_share_of_it_is_not_worth_a_word() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 980), ("s", "SkipLayerNormalization", ("m",), 20)]
    assert say("skip-layer-norm-slow", evidence(nodes)) == []


def test_a_level_below_all_costs_convolutions_their_layout() -> None:
    nodes = [("c", "Conv", ("x", "w"), 90), ("r", "Relu", ("c",), 10)]
    (finding,) = say("level-below-all", evidence(nodes, config=Config(level="basic")))
    assert (finding.fix.config, finding.confidence) == (Config(), "sure")
    assert say("level-below-all", evidence(nodes)) == []


def test_convolutions_could_run_in_int8_where_the_processor_can() -> None:
    nodes = [("c", "Conv", ("x", "w"), 90), ("r", "Relu", ("c",), 10)]
    (finding,) = say("static-int8-opportunity", evidence(nodes))
    assert finding.fix.config == Config(precision=StaticInt8())
    assert finding.gain.share == pytest.approx(0.9 * (1 - 1 / 2.5))
    assert say("static-int8-opportunity", evidence(nodes, machine=machine(flags=("avx2",)))) == []
    costly = [("c", "Conv", ("x", "w"), 60), ("m", "Mul", ("c",), 5), ("d", "Div", ("m",), 5)]
    rest = ("r", "Relu", ("d",), 30)
    (less,) = say("static-int8-opportunity", evidence([*costly, rest]))
    assert less.gain.share == pytest.approx(0.6 * (1 - 1 / 2.5) - 0.05 * 2.0 - 0.05 * 1.3)
    casts = ("e", "HardSwish", ("d",), 30)
    assert say("static-int8-opportunity", evidence([*costly, casts])) == [], (
        "the casts cost more than it gains"
    )
    assert say("static-int8-opportunity", evidence(nodes, config=Config(precision=DynamicInt8()))) == []


def test_products_with_large_weights_could_run_in_int8() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 80), ("s", "SkipLayerNormalization", ("m",), 20)]
    (finding,) = say("dynamic-int8-opportunity", with_weight(nodes, (256, 256)))
    assert finding.fix.config == Config(precision=DynamicInt8(), disabled_passes=("SkipLayerNormFusion",))
    assert say("dynamic-int8-opportunity", with_weight(nodes, (64, 64))) == []


def test_convolutions_quantized_while_running_are_the_wrong_int8() -> None:
    (finding,) = say(
        "dynamic-int8-convolutions",
        evidence([("c", "ConvInteger", ("x",), 90)], config=Config(precision=DynamicInt8())),
    )
    assert (finding.confidence, finding.fix.config) == ("sure", Config(precision=StaticInt8()))


@pytest.mark.parametrize(("exponent", "speaks"), [(0.5, True), (-0.5, True), (2.0, False), (1.7, False)])
def test_a_simple_power_is_spelled_out(exponent: float, speaks: bool) -> None:
    nodes = [("p", "Pow", ("x", "e"), 30), ("m", "MatMul", ("p",), 70)]
    built = model(nodes)
    built.graph.initializer.append(numpy_helper.from_array(np.float32(exponent).reshape(()), "e"))
    findings = say("general-power", evidence(nodes, structure=built))
    assert bool(findings) is speaks
    assert all(finding.fix.config == Config(rewrites=("power-spelled-out",)) for finding in findings)
    assert all(finding.nodes == ("p",) for finding in findings)


@pytest.mark.parametrize(("reader", "speaks"), [("Cast", True), ("Relu", False)])
def test_a_cast_that_something_else_reads_is_not_cast_back(reader: str, speaks: bool) -> None:
    nodes = [("h", "Cast", ("x",), 5), ("b", "Cast", ("h",), 5), ("r", reader, ("h",), 5)]
    nodes += [("y", "Sum", ("b", "r"), 85)]
    built = model(nodes)
    kinds = {"x": FLOAT, "h": TensorProto.FLOAT16, "b": FLOAT, "r": FLOAT}
    built.graph.value_info.extend(helper.make_tensor_value_info(name, kinds[name], [4]) for name in "hbr")
    facts = evidence(nodes, structure=built)
    assert facts.profiled is not None
    findings = say("cast-pairs", replace(facts, profiled=replace(facts.profiled, graph=read_graph(built))))
    assert [finding.nodes for finding in findings] == [("h", "b", "r")] * speaks
    assert all("autocast" in finding.fix.text for finding in findings)


def test_weights_among_the_inputs() -> None:
    nodes = [("c", "Conv", ("x", "w"), 90)]
    built = matrix(nodes)
    assert say("weights-are-inputs", evidence(nodes, structure=built)) == []
    built.graph.input.append(helper.make_tensor_value_info("w", FLOAT, [256, 256]))
    (finding,) = say("weights-are-inputs", evidence(nodes, structure=built))
    assert finding.nodes == ("c",)
    assert finding.fix.config == Config(rewrites=("weights-out-of-inputs",))
    assert "keep_initializers_as_inputs=False" in finding.fix.code
    assert finding.fix.least_sqnr_db == 60


def test_weights_of_an_old_file_have_to_be_inputs() -> None:
    nodes = [("c", "Conv", ("x", "w"), 90)]
    built = matrix(nodes)
    built.graph.input.append(helper.make_tensor_value_info("w", FLOAT, [256, 256]))
    built.ir_version = 3
    assert say("weights-are-inputs", evidence(nodes, structure=built)) == []


def test_the_inputs_of_a_lora_adapter_are_left_alone() -> None:
    adapted = "model.q_proj.lora_A.weight"
    nodes = [("c", "Conv", ("x", "w"), 90), ("m", "MatMul", ("c", adapted), 10)]
    built = matrix(nodes)
    built.graph.initializer.append(numpy_helper.from_array(np.zeros((256, 8), np.float32), adapted))
    built.graph.input.append(helper.make_tensor_value_info(adapted, FLOAT, [256, 8]))
    assert say("weights-are-inputs", evidence(nodes, structure=built)) == []
    built.graph.input.append(helper.make_tensor_value_info("w", FLOAT, [256, 256]))
    (finding,) = say("weights-are-inputs", evidence(nodes, structure=built))
    assert finding.title.startswith("1 weight is an input")
    assert take_weights_out_of_inputs(built) == 1
    assert adapted in {value.name for value in built.graph.input}


@pytest.mark.parametrize(("elements", "speaks"), [(16 << 20, True), (15 << 20, False)])
def test_large_constants_count_although_their_payload_is_not_read(elements: int, speaks: bool) -> None:
    nodes = [("c", "Constant", (), 1), ("a", "Add", ("x", "c"), 9)]
    built = model(nodes)
    large = TensorProto(dims=[elements], data_type=FLOAT)
    built.graph.node[0].attribute.append(helper.make_attribute("value", large))
    findings = say("weights-as-attributes", evidence(nodes, structure=built))
    assert [finding.fix.rewrite for finding in findings] == ["constants-to-initializers"] * speaks


def test_a_rewrite_that_the_config_has_is_not_offered_again() -> None:
    nodes = [("c", "Conv", ("x", "w"), 90)]
    built = matrix(nodes)
    built.graph.input.append(helper.make_tensor_value_info("w", FLOAT, [256, 256]))
    config = Config(rewrites=("weights-out-of-inputs",))
    (finding,) = say("weights-are-inputs", evidence(nodes, structure=built, config=config))
    assert (finding.fix.kind, finding.fix.config) == ("rewrite", None)


def test_denormal_weights() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    sound, ill = WeightScan((weight(),)), WeightScan((weight(denormals=1 << 19),))
    assert say("denormal-weights", evidence(nodes, structure=matrix(nodes), weights=sound)) == []
    (finding,) = say("denormal-weights", evidence(nodes, structure=matrix(nodes), weights=ill))
    assert finding.nodes == ("m",)
    assert finding.fix.config == Config(rewrites=("denormals-to-zero",))


def test_denormal_weights_are_a_small_thing_where_the_processor_is_as_fast() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    for slowdown, is_small in ((1.0, True), (40.0, False), (None, False)):
        ill = WeightScan((weight(denormals=1 << 19),), slowdown)
        (finding,) = say("denormal-weights", evidence(nodes, structure=matrix(nodes), weights=ill))
        assert finding.is_small is is_small


@pytest.mark.parametrize(
    "changes", [{"sha1": "a", "sha1_transposed": "b"}, {"sha1": "b", "sha1_transposed": "a"}]
)
def test_weights_stored_twice_as_they_are_or_transposed(changes: dict[str, str]) -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    scan = WeightScan((weight(), weight("v", **changes)))
    (finding,) = say("weights-stored-twice", evidence(nodes, weights=scan))
    assert finding.gain.saved == 4 << 20
    other = WeightScan((weight(), weight("v", sha1="c", sha1_transposed="d")))
    assert say("weights-stored-twice", evidence(nodes, weights=other)) == []


def test_a_mask_of_infinities_is_no_broken_weight() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    mask = weight(non_finite=1 << 20, largest=0.0)
    assert say("non-finite-weights", evidence(nodes, weights=WeightScan((mask,)))) == []
    (finding,) = say("non-finite-weights", evidence(nodes, weights=WeightScan((weight(non_finite=1),))))
    assert finding.gain.subject == "correctness"


def test_more_threads_than_cores() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    many = run("A", [process(1, [block(0.001)])], threads=8)
    (finding,) = say("too-many-threads", evidence(nodes, run=many))
    assert finding.fix.config == Config(intra_op_threads=2)
    assert say("too-many-threads", evidence(nodes, run=replace(many, threads=2))) == []


def test_a_quota_counts_as_cores() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    two = run("A", [process(1, [block(0.001)])], threads=2)
    bounded = replace(machine(), quota_cores=0.5)
    (finding,) = say("too-many-threads", evidence(nodes, run=two, machine=bounded))
    assert finding.fix.config == Config(intra_op_threads=1)


def test_the_parallel_mode_on_a_chain() -> None:
    nodes = [("a", "Relu", ("x",), 10), ("b", "Relu", ("a",), 10), ("c", "Relu", ("b",), 10)]
    parallel = Config(execution_mode="parallel", inter_op_threads=2)
    (finding,) = say("parallel-chain", evidence(nodes, config=parallel))
    assert finding.fix.config == Config()
    assert say("parallel-chain", evidence(nodes)) == []


def test_the_knee_of_the_threads() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    two = run("A", [process(1, [block(0.001)])], threads=2)
    scaling = results.scaling(*(results.thread_point(n, True, s) for n, s in ((1, 0.0010), (2, 0.0011))))
    (finding,) = say("threads-past-the-knee", evidence(nodes, run=two, scaling=scaling))
    assert finding.fix.config == Config(intra_op_threads=1)


def test_the_knee_is_that_of_the_threads_as_they_wait() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    one, config = run("A", [process(1, [block(0.004)])], threads=1), Config(spinning=False)
    points = ((1, True, 0.001), (2, True, 0.001), (1, False, 0.004), (2, False, 0.003))
    scaling = results.scaling(*(results.thread_point(n, spinning, s) for n, spinning, s in points))
    (finding,) = say("threads-past-the-knee", evidence(nodes, run=one, scaling=scaling, config=config))
    assert finding.fix.config == Config(spinning=False, intra_op_threads=2)
    assert finding.evidence == ("3 ms instead of 4 ms",)
    assert say("threads-past-the-knee", evidence(nodes, run=one, scaling=scaling)) == []


def test_a_load_that_is_spent_on_optimizing() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]

    def start(load_s: float) -> ProcessStart:
        return ProcessStart(0.1, 0.2, load_s, 0.01, 0.001, None, None, None, None, None)

    slow = ColdStartRecord("A", (start(2.0),), (start(1.9),), (start(0.2),))
    (finding,) = say("slow-load", evidence(nodes, cold=slow))
    assert finding.fix.config == Config(saved_graph="onnx")
    assert finding.gain.subject == "load"
    quick = ColdStartRecord("A", (start(0.02),), (start(0.02),), (start(0.01),))
    assert say("slow-load", evidence(nodes, cold=quick)) == []


def test_an_arena_that_holds_too_much() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    held = MemoryRecord((), None, None, 30 << 20, 90 << 20)
    (finding,) = say("arena-holds-memory", evidence(nodes, memory=held))
    assert finding.gain.saved == 60 << 20
    assert finding.fix.config == Config(cpu_arena=False)
    assert say("arena-holds-memory", evidence(nodes, memory=replace(held, arena_held_bytes=40 << 20))) == []


def test_the_cpu_before_another_provider() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    (finding,) = say("cpu-listed-first", evidence(nodes, config=Config(providers=("cpu", "cuda"))))
    assert finding.fix.config == Config(providers=("cuda", "cpu"))


def test_einsum_and_transposes_speak_from_their_share_on() -> None:
    nodes = [("e", "Einsum", ("x",), 10), ("t", "Transpose", ("e",), 20), ("m", "MatMul", ("t", "w"), 70)]
    assert [finding.nodes for finding in say("einsum", evidence(nodes))] == [("e",)]
    (transposes,) = say("transposes", evidence(nodes))
    assert transposes.nodes == ("t",)
    assert "--inputs-as-nchw" in transposes.fix.code
    few = [("e", "Einsum", ("x",), 1), ("t", "Transpose", ("e",), 2), ("m", "MatMul", ("t", "w"), 97)]
    assert say("einsum", evidence(few)) == say("transposes", evidence(few)) == []


def test_float64_inside_of_float32() -> None:
    nodes = [("n", "Sqrt", ("w",), 50), ("m", "MatMul", ("x",), 50)]
    (finding,) = say("float64-island", evidence(nodes, [("w", TensorProto.DOUBLE)]))
    assert finding.nodes == ("n",)
    assert say("float64-island", evidence(nodes, [("w", FLOAT)])) == []


def test_the_body_of_a_loop_counts_whatever_slashes_its_name_holds() -> None:
    name = "/decoder/Loop"
    body = helper.make_graph(
        [helper.make_node("MatMul", ["x", "x"], ["made"], "/decoder/MatMul")],
        "body",
        [helper.make_tensor_value_info("step", TensorProto.INT64, [])],
        [helper.make_tensor_value_info("made", FLOAT, None)],
    )
    built = model([(name, "Loop", ("x", ""), 2)])
    built.graph.node[0].attribute.append(helper.make_attribute("body", body))
    spent = ((name, "Loop", 2e-6), ("/decoder/MatMul", "MatMul", 98e-6))
    runs = tuple(NodeRun(node, op, "CPUExecutionProvider", time_s) for node, op, time_s in spent)
    facts = evidence([(name, "Loop", ("x", ""), 100)], structure=built)
    assert facts.profiled is not None
    profile = replace(facts.profiled, nodes=runs, graph=read_graph(built))
    (finding,) = say("loop-of-products", replace(facts, profiled=profile))
    assert finding.nodes == (name, f"{name}/body::/decoder/MatMul")
