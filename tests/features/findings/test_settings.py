"""Fixes that set options of providers and sessions: each names the option, and the config takes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from benchmarks.graphs import explained_of
from tests.factories.graphs import graph, node
from tests.factories.profiled_configs import model
from tests.factories.runs import block, process, run
from tests.features.findings.evidence import evidence, say
from workbench.core.config import Config, Provider
from workbench.features.cold_start.record import ColdStartRecord, ProcessStart
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.record import FAILED
from workbench.features.profile.memory.by_node import MemoryRecord

MIB = 1 << 20
CONV = [("c", "Conv", ("x", "w"), 90)]
CUDA = Config(providers=("cuda", "cpu"))
TENSORRT = Config(providers=("tensorrt", "cuda", "cpu"))
APART = "session.optimized_model_external_initializers_file_name"


def convolution(rank: int, first_run_s: float, config: Config = CUDA) -> Evidence:
    """Return evidence of a convolution with weights of this rank, whose later runs take 2 ms."""
    structure = model(CONV)
    weight = np.zeros((1,) * rank, np.float32)
    structure.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    measured = run("A", [replace(process(1, [block(0.002)]), first_run_s=first_run_s)], config=config)
    return evidence(CONV, structure=structure, config=config, run=measured)


@pytest.mark.parametrize(
    ("rank", "first_run_s", "options"),
    [
        (4, 0.6, {"cudnn_conv_algo_search": "HEURISTIC"}),
        (3, 0.6, {"cudnn_conv_algo_search": "HEURISTIC", "cudnn_conv1d_pad_to_nc1d": "1"}),
        (3, 0.002, {"cudnn_conv1d_pad_to_nc1d": "1"}),
    ],
)
def test_one_dimensional_convolutions_are_padded_for_cudnn(
    rank: int, first_run_s: float, options: dict[str, str]
) -> None:
    (finding,) = say("convolution-search", convolution(rank, first_run_s))
    assert finding.fix.config == Config(providers=(Provider("cuda", options), "cpu"))
    assert all(f"{name}={value}" in finding.fix.text for name, value in options.items())
    assert say("convolution-search", convolution(rank, first_run_s, finding.fix.config)) == []


def test_images_whose_first_run_is_quick_draw_no_finding() -> None:
    assert say("convolution-search", convolution(4, 0.002)) == []


def free_inputs(*shapes: tuple[str, tuple[Any, ...]], **facts: Any) -> Evidence:
    """Return evidence of a model on TensorRT whose inputs have these shapes."""
    structure = model([("y", "Relu", (shapes[0][0],), 90)])
    del structure.graph.input[:]
    structure.graph.input.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, list(dims)) for name, dims in shapes
    )
    config = facts.pop("config", TENSORRT)
    return evidence([("y", "Relu", ("x",), 90)], structure=structure, config=config, **facts)


IMAGE = ("x", ("batch", 3, "side", "side"))
SMALL, USUAL, LARGE = ((("batch", batch), ("side", side)) for batch, side in ((1, 448), (8, 224), (32, 224)))


def test_measured_shapes_become_profiles_of_tensorrt() -> None:
    facts = free_inputs(IMAGE, ("scale", (1,)), ("mask", ("batch", 10)), sizes=USUAL,
                        feed_sizes=(USUAL, SMALL, LARGE))  # fmt: skip
    (finding,) = say("engine-without-profiles", facts)
    assert finding.fix.config.providers[0] == Provider(
        "tensorrt",
        trt_profile_min_shapes="x:1x3x224x224,mask:1x10",
        trt_profile_opt_shapes="x:8x3x224x224,mask:8x10",
        trt_profile_max_shapes="x:32x3x448x448,mask:32x10",
    )
    assert finding.fix.config.providers[1:] == TENSORRT.providers[1:]
    assert finding.confidence == "sure"
    assert say("engine-without-profiles", replace(facts, config=finding.fix.config)) == []


def test_one_measured_shape_is_a_profile_that_says_so() -> None:
    (finding,) = say("engine-without-profiles", free_inputs(IMAGE, sizes=USUAL))
    assert {
        finding.fix.config.providers[0].option(f"trt_profile_{end}_shapes") for end in ("min", "max")
    } == {"x:8x3x224x224"}
    assert (finding.confidence, "one shape was measured" in finding.caution) == ("likely", True)


@pytest.mark.parametrize(
    "shapes", [(("x", (None, 3)),), (("x:0", ("batch", 3)),), (("x,y", ("batch", 3)),), (("x", ("length",)),)]
)
def test_shapes_that_cannot_be_written_are_left_to_the_user(shapes: Any) -> None:
    (finding,) = say("engine-without-profiles", free_inputs(*shapes, sizes=USUAL))
    assert (finding.fix.kind, finding.fix.config) == ("note", None)
    assert "trt_profile_opt_shapes" in finding.fix.code


@pytest.mark.parametrize(
    "facts",
    [
        free_inputs(("x", (1, 3)), sizes=USUAL),
        free_inputs(IMAGE, sizes=USUAL, config=CUDA),
        free_inputs(IMAGE, sizes=USUAL, config=TENSORRT.replace(free_dimensions={"batch": 1, "side": 8})),
    ],
    ids=["known shapes", "no TensorRT", "fixed by the config"],
)
def test_no_profiles_where_none_are_needed(facts: Evidence) -> None:
    assert say("engine-without-profiles", facts) == []


def test_small_parts_of_tensorrt_are_left_to_the_next_provider() -> None:
    source = graph(*(node(f"n{i}", ["Relu", "NonZero"][i % 2], ("x",), f"n{i}") for i in range(9)))
    nodes = [("y", "Relu", ("x",), 90)]
    parts = explained_of(source, source, on_cpu=("NonZero",), provider="TensorrtExecutionProvider")
    facts = evidence(nodes, config=TENSORRT, explained=parts)
    (finding,) = say("many-partitions", facts)
    assert finding.fix.config.providers[0] == Provider("tensorrt", trt_min_subgraph_size="10")
    (again,) = say("many-partitions", replace(facts, config=finding.fix.config))
    assert (again.fix.kind, again.fix.config) == ("export", None)


def test_spinning_can_be_shortened() -> None:
    busy = replace(block(0.001), own_cpu_s=0.02)
    facts = evidence(CONV, run=run("A", [process(1, [busy])]), pacing_s=0.005)
    (finding,) = say("spinning-while-idle", facts)
    assert finding.fix.config == Config(spinning=False)
    name, _, value = finding.caution.rpartition(" ")[2].partition("=")
    assert name == "session.intra_op.spin_duration_us"
    assert Config(session_entries={name: value})


def packed(**facts: Any) -> Evidence:
    """Return evidence of weights of 100 MiB, packed into another 100."""

    def started(size_bytes: int) -> ProcessStart:
        return ProcessStart(0.1, 0.2, 0.3, 0.01, 0.001, 0, 0, size_bytes, size_bytes, size_bytes)

    cold = ColdStartRecord("A", (started(250 * MIB),), (started(150 * MIB),), ())
    memory = MemoryRecord((), 100 * MIB, None, None, None)
    return evidence([("m", "MatMul", ("x", "w"), 90)], cold=cold, memory=memory, **facts)


def test_packed_weights_are_mapped_from_a_file_of_their_own() -> None:
    (finding,) = say("prepacking-doubles-weights", packed())
    assert finding.fix.config == Config(saved_graph="onnx", session_entries={APART: "weights.bin"})
    assert "session.save_external_prepacked_constant_initializers=1" in finding.caution
    assert Config(session_entries={"session.save_external_prepacked_constant_initializers": "1"})


def test_packed_weights_that_lie_apart_already_are_left_unpacked() -> None:
    structure = model([("m", "MatMul", ("x", "w"), 90)])
    structure.graph.initializer.add(name="w", data_location=1).external_data.add(
        key="location", value="w.bin"
    )
    unpacked = {"session.disable_prepacking": "1"}
    for config, facts in (
        (Config(saved_graph="ort"), {}),
        (CUDA, {}),
        (Config(), {"structure": structure}),
    ):
        (finding,) = say("prepacking-doubles-weights", packed(config=config, **facts))
        assert finding.fix.config == config.replace(session_entries=unpacked)


@pytest.mark.slow
@pytest.mark.real
def test_mapped_weights_take_less_memory(tmp_path: Path) -> None:
    size, count = 1500, 8  # 69 MiB of weights; of 1024 by 1024 what is packed differs from run to run
    nodes = [(f"m{i}", "MatMul", (f"m{i - 1}" if i else "x", f"w{i}"), 1) for i in range(count)]
    built = model(nodes)
    del built.graph.input[:]
    built.graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, size]))
    weight = np.eye(size, dtype=np.float32)
    built.graph.initializer.extend(
        numpy_helper.from_array(weight * (i + 1) / 8, f"w{i}") for i in range(count)
    )
    built.opset_import[0].version, built.ir_version = 17, 9
    onnx.save(built, tmp_path / "model.onnx")
    (record,) = say("prepacking-doubles-weights", packed())
    result = wb.compare(tmp_path / "model.onnx", Config(), record.fix.config, budget_s=2, progress=False,
                        keep=False)  # fmt: skip
    before, after = result.runs
    assert (before.failure, after.failure) == (None, None)
    assert all(row.agrees for row in result.agreement)
    assert before.peak_rss_bytes - after.peak_rss_bytes > 20 * MIB
    again = wb.findings(tmp_path / "model.onnx", record.fix.config).by_label["A"]
    assert [entry for entry in again.not_looked if entry.reason.startswith(FAILED)] == []
