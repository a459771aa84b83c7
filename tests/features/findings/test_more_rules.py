"""Rules on integer kernels, decoders, GPUs, passes, memory and sizes, on hand-made evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from benchmarks.graphs import explained_of
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.factories.graphs import graph, node
from tests.factories.profiled_configs import FLOAT, machine
from tests.features.findings.evidence import evidence, say
from tests.features.findings.test_rules import matrix
from workbench.core.bundle.estimate import Estimate
from workbench.core.config import Config, DynamicInt8, Float16, Provider, StaticInt8, WeightOnly
from workbench.core.models.graph_walk import read_graph
from workbench.features.profile.memory.by_node import MemoryRecord, NodeMemory

OLD = machine(flags=("avx2",))
SIGNED = Config(precision=StaticInt8(activation="int8"))
CUDA = Config(providers=("cuda", "cpu"))
MIB = 1 << 20


def shaped(nodes: Any, dims: tuple[int, ...], rows: int, **facts: Any) -> Any:
    """Return evidence whose graph has the weight `w`, and outputs of this many rows."""
    built = matrix(nodes, dims)
    for output in built.graph.output:
        output.CopyFrom(helper.make_tensor_value_info(output.name, FLOAT, [rows, dims[-1]]))
    known = evidence(nodes, structure=built, **facts)
    return replace(known, profiled=replace(known.profiled, graph=read_graph(built)))


def test_signed_activations_keep_a_layer_in_float() -> None:
    nodes = [("d", "DequantizeLinear", ("x",), 5), ("c", "Conv", ("d", "w"), 90)]
    (finding,) = say("signed-activations", evidence(nodes, config=SIGNED))
    assert finding.nodes == ("c",)
    assert finding.fix.config == Config(precision=StaticInt8(activation="uint8"))
    assert say("signed-activations", evidence(nodes, config=finding.fix.config)) == []
    integer = [("d", "DequantizeLinear", ("x",), 5), ("c", "QLinearConv", ("d", "w"), 90)]
    assert say("signed-activations", evidence(integer, config=SIGNED)) == []


def test_a_file_that_came_with_signed_activations_is_recognised() -> None:
    nodes = [
        ("q", "QuantizeLinear", ("x", "k", "z"), 5), ("d", "DequantizeLinear", ("q", "k", "z"), 5),
        ("c", "Conv", ("d", "w"), 90),
    ]  # fmt: skip
    constants = [("w", FLOAT), ("k", FLOAT)]
    (finding,) = say("signed-activations", evidence(nodes, [*constants, ("z", TensorProto.INT8)]))
    assert finding.fix.config is None
    assert say("signed-activations", evidence(nodes, [*constants, ("z", TensorProto.UINT8)])) == []
    (finding,) = say("sixteen-bit-activations", evidence(nodes, [*constants, ("z", TensorProto.UINT16)]))
    assert finding.nodes == ("q", "d")


def test_a_quantized_layer_in_float_is_left_out_where_no_other_rule_knows_the_cause() -> None:
    nodes = [
        ("q", "QuantizeLinear", ("x", "k", "z"), 5), ("d", "DequantizeLinear", ("q", "k", "z"), 10),
        ("e", "DequantizeLinear", ("w", "k", "z"), 20), ("c", "Conv", ("d", "e"), 90),
    ]  # fmt: skip
    constants = [("w", TensorProto.INT8), ("k", FLOAT), ("z", TensorProto.UINT8)]
    unsigned = Config(precision=StaticInt8(activation="uint8"))
    (finding,) = say("quantized-layers-in-float", evidence(nodes, constants, config=unsigned))
    assert finding.fix.config == Config(precision=StaticInt8(activation="uint8", exclude=("c",)))
    assert finding.nodes == ("c", "d", "e")
    assert finding.cost_share == pytest.approx(120 / 125, rel=0.05)
    assert say("quantized-layers-in-float", evidence(nodes, constants, config=SIGNED)) == []
    excluded = [*nodes[:2], ("c", "Conv", ("d", "w"), 90)]
    assert say("quantized-layers-in-float", evidence(excluded, constants, config=unsigned)) == []


@pytest.mark.parametrize(
    ("flags", "lacks"),
    [
        (("avx2",), True),
        (("avx2", "avx_vnni"), False),
        (("asimd",), True),
        (("asimd", "asimddp"), False),
        ((), False),
    ],
)
def test_a_processor_without_integer_instructions_is_told_and_an_unknown_one_is_not(
    flags: tuple[str, ...], lacks: bool
) -> None:
    integer = [("l", "QLinearConv", ("x",), 50)]
    found = say("int8-without-instructions", evidence(integer, machine=machine(flags=flags)))
    assert [finding.nodes for finding in found] == [("l",)] * lacks


def test_a_bias_behind_an_identity() -> None:
    nodes = [
        ("q", "QuantizeLinear", ("x",), 5), ("b", "Identity", ("w",), 1), ("c", "Conv", ("q", "v", "b"), 90),
    ]  # fmt: skip
    (finding,) = say("bias-behind-identity", evidence(nodes))
    assert finding.nodes == ("c",)
    assert say("bias-behind-identity", evidence(nodes[1:])) == [], "a file in float"


def test_few_integer_kernels() -> None:
    config = Config(precision=DynamicInt8())
    few = [("i", "MatMulInteger", ("x",), 10), ("m", "MatMul", ("i", "w"), 90)]
    (finding,) = say("few-integer-kernels", evidence(few, config=config))
    assert (finding.nodes, finding.fix.config) == (("m",), Config())
    many = [("i", "MatMulInteger", ("x",), 90), ("m", "MatMul", ("i", "w"), 10)]
    assert say("few-integer-kernels", evidence(many, config=config)) == []
    assert say("few-integer-kernels", evidence(few)) == []


@pytest.mark.parametrize(
    ("rule", "config", "fixed", "facts"),
    [
        ("sixteen-bit-activations", Config(precision=StaticInt8(activation="uint16")),
         Config(precision=StaticInt8()), {}),
        ("blocks-computed-in-float", Config(precision=WeightOnly(accuracy_level="float32")),
         Config(precision=WeightOnly()), {}),
        ("int8-without-instructions", Config(precision=DynamicInt8()), Config(), {"machine": OLD}),
        ("arena-grows-as-requested",
         Config(providers=(Provider("cuda", arena_extend_strategy="kSameAsRequested"), "cpu")),
         Config(providers=(Provider("cuda", cudnn_conv_algo_search="HEURISTIC"), "cpu")), {}),
    ],
)  # fmt: skip
def test_a_setting_that_costs_time(rule: str, config: Config, fixed: Config, facts: dict[str, Any]) -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    (finding,) = say(rule, evidence(nodes, config=config, **facts))
    assert finding.fix.config == fixed
    assert say(rule, evidence(nodes, config=fixed, **facts)) == []


def test_weights_of_a_few_rows_are_read_from_memory() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]

    def known(rows: int, size_bytes: int) -> Any:
        facts = shaped(nodes, (256, 256), rows)
        width = size_bytes // 4 // 256
        info = replace(facts.profiled.graph.constants["w"], dims=(256, width))
        graph = replace(facts.profiled.graph, constants={"w": info})
        return replace(facts, profiled=replace(facts.profiled, graph=graph))

    (finding,) = say("weight-only-opportunity", known(1, 400 * MIB))
    assert finding.fix.config == Config(precision=WeightOnly(bits=8))
    assert say("weight-only-opportunity", known(64, 400 * MIB)) == []
    assert say("weight-only-opportunity", known(1, 10 * MIB)) == []


def test_logits_of_several_positions() -> None:
    nodes = [("h", "Tanh", ("x",), 10), ("m", "MatMul", ("h", "w"), 90)]
    (finding,) = say("logits-of-every-position", shaped(nodes, (8, 12_000), 10))
    assert finding.gain.share == pytest.approx(0.9 * 0.9)
    assert say("logits-of-every-position", shaped(nodes, (8, 12_000), 1)) == []
    assert say("logits-of-every-position", shaped(nodes, (8, 100), 10)) == []


def test_a_decoder_without_a_cache() -> None:
    nodes = [("t", "Trilu", ("x",), 10), ("m", "MatMul", ("t", "w"), 90)]
    without = shaped(nodes, (8, 12_000), 10)
    (finding,) = say("no-key-value-cache", without)
    assert finding.nodes == ("t", "m")
    assert "text-generation-with-past" in finding.fix.code
    built = matrix(nodes, (8, 12_000))
    built.graph.input.append(helper.make_tensor_value_info("past_key_values.0.key", FLOAT, [1]))
    assert say("no-key-value-cache", evidence(nodes, structure=built)) == []
    encoder = [("h", "Tanh", ("x",), 10), ("m", "MatMul", ("h", "w"), 90)]
    assert say("no-key-value-cache", shaped(encoder, (8, 12_000), 10)) == []


def test_the_layout_of_tensor_cores() -> None:
    nodes = [("c", "Conv", ("x", "w"), 90)]
    (finding,) = say("tensor-core-layout", evidence(nodes, config=CUDA.replace(precision=Float16())))
    assert finding.fix.config is not None
    assert finding.fix.config.providers[0] == Provider("cuda", prefer_nhwc="1")
    assert say("tensor-core-layout", evidence(nodes, config=CUDA)) == []
    assert say("tensor-core-layout", evidence(nodes, config=finding.fix.config)) == []


def test_launches_are_captured() -> None:
    nodes = [(f"n{i}", "Relu", (f"n{i - 1}" if i else "x",), 3) for i in range(40)]
    (finding,) = say("launch-bound", evidence(nodes, config=CUDA))
    assert finding.fix.config is not None
    assert finding.fix.config.io_binding
    assert say("launch-bound", evidence(nodes, config=CUDA, sizes=(("batch", 1),))) == [], "sizes vary"
    slow = [(name, op_type, inputs, 90) for name, op_type, inputs, _ in nodes]
    assert say("launch-bound", evidence(slow, config=CUDA)) == []
    copied = [*nodes, ("copy", "MemcpyToHost", ("n39",), 3)]
    assert say("launch-bound", evidence(copied, config=CUDA)) == []


def test_a_provider_that_loses_to_the_cpu() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    other = Config(providers=("openvino",))
    slower = replace(ordinary().verdict, kind="slower", ratio=0.5, low=0.45, high=0.55)
    known = evidence(nodes, config=other, baseline=Config(), verdict=slower, label="B")
    (finding,) = say("provider-loses-to-cpu", known)
    assert finding.fix.config == Config()
    assert finding.gain.share == pytest.approx(0.5)
    assert finding.gain.low < finding.gain.saved < finding.gain.high
    assert say("provider-loses-to-cpu", replace(known, verdict=replace(slower, kind="faster"))) == []
    assert say("provider-loses-to-cpu", replace(known, baseline=other)) == []


def test_a_pass_that_hurts_is_left_out() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 100)]
    table = examples.ablation()
    hurts = replace(
        table.rows[0], name="GeluFusionL2", effect="hurts", ratio=Estimate(1.25, 1 / 0.85, 1 / 0.75)
    )
    (finding,) = say("pass-costs-time", evidence(nodes, worth=replace(table, rows=(hurts,))))
    assert finding.fix.config == Config(disabled_passes=("GeluFusionL2",))
    assert finding.gain.share == pytest.approx(0.2)
    assert finding.gain.low < finding.gain.saved < finding.gain.high
    helps = replace(hurts, effect="helps", ratio=Estimate(1 / 1.2))
    assert say("pass-costs-time", evidence(nodes, worth=replace(table, rows=(helps,)))) == []
    assert say("pass-costs-time", evidence(nodes, worth=replace(table, rows=(hurts,)),
                                           config=finding.fix.config)) == []  # fmt: skip


def memory(*live: int, temporary: int = 0) -> MemoryRecord:
    rows = tuple(
        NodeMemory(place, f"n{place}", "Resize", MIB + temporary, None, None, MIB, size)
        for place, size in enumerate(live)
    )
    return MemoryRecord(rows, None, max(live), 90 * MIB, 90 * MIB)


def test_one_node_makes_the_peak_of_the_memory() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    peak = memory(10 * MIB, 10 * MIB, 90 * MIB, 10 * MIB)
    (finding,) = say("one-node-makes-the-peak", evidence(nodes, memory=peak))
    assert finding.nodes == ("n2",)
    assert finding.gain.saved == 80 * MIB
    for even in (memory(80 * MIB, 90 * MIB, 90 * MIB), memory(1 << 10, 1 << 10, 9 << 10)):
        assert say("one-node-makes-the-peak", evidence(nodes, memory=even)) == []


def test_scratch_memory_of_a_node() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    (finding,) = say("scratch-memory", evidence(nodes, memory=memory(MIB, temporary=40 * MIB)))
    assert finding.gain.saved == 40 * MIB
    assert say("scratch-memory", evidence(nodes, memory=memory(MIB, temporary=5 * MIB))) == []


def test_a_block_that_the_arena_rounds_up_is_no_scratch_memory() -> None:
    record = replace(memory(MIB, temporary=40 * MIB), arena_peak_bytes=64 * MIB)
    (node,) = (node for node in record.nodes if node.temporary_bytes == 40 * MIB)
    rounded = replace(node, output_bytes=39 * MIB, allocated_bytes=64 * MIB)
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    assert say("scratch-memory", evidence(nodes, memory=replace(record, nodes=(rounded,)))) == []
    more = replace(rounded, allocated_bytes=80 * MIB)
    assert len(say("scratch-memory", evidence(nodes, memory=replace(record, nodes=(more,))))) == 1


@pytest.mark.parametrize(("mode", "rewrites"), [("reflect", ("reflect-pad-spelled-out",)), ("edge", None)])
def test_a_reflecting_pad_that_splits_the_graph_is_spelled_out(mode: str, rewrites: Any) -> None:
    kinds = ["Relu", "Pad"] * 5
    nodes = [(f"n{i}", kind, (f"n{i - 1}" if i else "x",), 10) for i, kind in enumerate(kinds)]
    built = matrix(nodes)
    for made in built.graph.node:
        if made.op_type == "Pad":
            made.attribute.append(helper.make_attribute("mode", mode))
    source = graph(*(node(name, op_type, inputs, name) for name, op_type, inputs, _ in nodes))
    parts = explained_of(source, source, on_cpu=("Pad",), provider="TensorrtExecutionProvider")
    facts = evidence(nodes, structure=built, config=CUDA, explained=parts)
    (finding,) = say("many-partitions", facts)
    assert "into 5 compiled parts" in finding.title
    kernels = explained_of(source, source, on_cpu=("Pad",))  # CUDA compiles no part
    assert say("many-partitions", replace(facts, explained=kernels)) == []
    assert (finding.fix.config.rewrites if finding.fix.config else None) == rewrites


def test_a_gelu_names_its_own_nodes_and_not_the_bias_before_it() -> None:
    own = [
        ("cubed", "Mul", ("cubic", "bias"), 10),
        ("square", "Mul", ("bias", "cubed"), 10),
        ("cube", "Mul", ("bias", "square"), 10),
        ("inner", "Add", ("bias", "cube"), 10),
        ("scaled", "Mul", ("root", "inner"), 10),
        ("tanh", "Tanh", ("scaled",), 10),
        ("plus", "Add", ("one", "tanh"), 10),
        ("halved", "Mul", ("half", "plus"), 10),
        ("y", "Mul", ("bias", "halved"), 10),
    ]
    nodes = [("normal", "Mul", ("x", "scale"), 10), ("bias", "Add", ("normal", "shift"), 10), *own]
    numbers = {"cubic": 0.044715, "root": 0.7978846, "one": 1, "half": 0.5, "scale": 2, "shift": 3}
    built = matrix(nodes)
    built.graph.initializer.extend(
        numpy_helper.from_array(np.array(value, np.float32), name) for name, value in numbers.items()
    )
    source = graph(*(node(name, op_type, inputs, name) for name, op_type, inputs, _ in nodes))
    (finding,) = say(
        "gelu-not-fused", evidence(nodes, structure=built, explained=explained_of(source, source))
    )
    assert {*finding.nodes} == {name for name, *_ in own}
    assert finding.title.endswith("in 1 place")
    assert finding.fix.config.rewrites == ("gelu-to-one-node",)
    assert "opset_version=20" in finding.fix.code


def test_larger_sizes_that_come_later() -> None:
    nodes = [("m", "MatMul", ("x", "w"), 90)]
    sizes = ((("batch", 1), ("s", 8)), (("batch", 4), ("s", 8)))
    (finding,) = say("larger-shapes-later", evidence(nodes, feed_sizes=sizes))
    assert "batch=4" in finding.evidence[0]
    for silent in ((), sizes[:1], sizes[::-1], (sizes[0], sizes[0])):
        assert say("larger-shapes-later", evidence(nodes, feed_sizes=silent)) == []


def test_random_inputs_where_values_decide() -> None:
    nodes = [("n", "NonZero", ("x",), 90)]
    (finding,) = say("random-values-decide", evidence(nodes, [("w", TensorProto.FLOAT)], random_inputs=True))
    assert finding.nodes == ("n",)
    assert say("random-values-decide", evidence(nodes)) == []
    plain = [("n", "Relu", ("x",), 90)]
    assert say("random-values-decide", evidence(plain, random_inputs=True)) == []


def four_bits(zero_points: str) -> onnx.ModelProto:
    """Return a product of 4-bit weights whose zero points are floats, or packed, two in a byte."""
    rng = np.random.default_rng(0)
    packed = np.full((64, 1), 0x88, np.uint8) if zero_points == "packed" else np.full((64, 2), 8, np.float32)
    constants = {
        "w": rng.integers(0, 256, (64, 2, 16), dtype=np.uint8),
        "scales": rng.random((64, 2), dtype=np.float32),
        "zeros": packed,
    }
    product = helper.make_node(
        "MatMulNBits", ["x", *constants], ["y"], "product", domain="com.microsoft",
        K=64, N=64, bits=4, block_size=32, accuracy_level=4,
    )  # fmt: skip
    built = helper.make_graph(
        [product],
        "four_bits",
        [helper.make_tensor_value_info("x", FLOAT, [4, 64])],
        [helper.make_tensor_value_info("y", FLOAT, [4, 64])],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(built, opset_imports=opsets, ir_version=8)


@pytest.mark.real
def test_zero_points_in_float_keep_four_bits_slow() -> None:
    found = {
        kind: [item for item in wb.findings(four_bits(kind)).record.findings
               if item.id == "float-zero-points"]
        for kind in ("float", "packed")
    }  # fmt: skip
    (item,) = found["float"]
    assert item.nodes == ("product",)
    assert "packed" in item.fix.text
    assert found["packed"] == []
