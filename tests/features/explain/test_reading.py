"""The graph model, the names, the weightless model, and ORT's log."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from onnx import ModelProto, TensorProto, helper

from tests.core.models import tiny
from tests.features.explain import models
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.models import Model
from workbench.core.models.graph import TensorInfo
from workbench.core.models.graph_walk import read_graph
from workbench.core.models.naming import name_nodes, unnamed
from workbench.core.text import without_colors
from workbench.core.worker.passlog import read_passes
from workbench.features.explain.observe import observe
from workbench.features.explain.weightless import HOLES, write_weightless


def test_bodies_see_what_is_outside_and_keep_their_names_apart() -> None:
    graph = read_graph(models.branches())
    choose = graph.by_key["choose"]
    assert choose.inputs == ("c",)
    assert set(choose.reads) == {"c", "h", "choose/then_branch::out", "choose/else_branch::out"}
    works = [node for node in graph.nodes if node.name == "work"]
    assert [node.inputs for node in works] == [("h",), ("h",)]
    assert len({node.outputs for node in works}) == 2
    assert [node.key for node in graph.nodes].index("choose") > 3


def test_names_are_made_once_and_the_same_way() -> None:
    first, second = models.gelu(named=False), models.gelu(named=False)
    assert unnamed(first)
    assert name_nodes(first) == len(first.graph.node)
    name_nodes(second)
    assert first == second
    assert not unnamed(first)
    assert name_nodes(first) == 0
    assert first.graph.node[1].name == "Add_0"


def test_a_shared_name_is_made_unique_without_taking_one_that_is_there() -> None:
    proto = models.gelu()
    for node, name in zip(proto.graph.node, ("n", "n", "n_0"), strict=False):
        node.name = name
    name_nodes(proto)
    assert [node.name for node in proto.graph.node][:3] == ["n", "n_1", "n_0"]


def test_sizes_are_known_where_types_and_dims_are() -> None:
    assert TensorInfo(1, (2, 3)).size_bytes == 24
    assert TensorInfo(22, (3,)).size_bytes == 2  # two elements share a byte
    assert TensorInfo(1, (2, "n")).size_bytes is None
    assert TensorInfo(None, (2,)).size_bytes is None
    assert TensorInfo(8, (2,)).size_bytes is None


def test_a_weightless_model_has_holes_for_weights_and_keeps_small_tensors(tmp_path: Path) -> None:
    proto = tiny.model(
        [helper.make_node("MatMul", ["x", "w"], ["h"], "m"), helper.make_node("Add", ["h", "b"], ["y"], "a")],
        [tiny.tensor("x", ["n", 64])],
        [tiny.tensor("y", ["n", 64])],
        {"w": tiny.weights(64, 64), "b": tiny.weights(64)},
    )
    path = tiny.save_external(proto, tmp_path)
    weightless = ModelProto.FromString(
        write_weightless(Model(path, "m").structure, path, tmp_path).read_bytes()
    )
    kept = {tensor.name: tensor for tensor in weightless.graph.initializer}
    assert kept["w"].data_location == TensorProto.EXTERNAL
    assert {entry.key: entry.value for entry in kept["w"].external_data} == {
        "location": HOLES, "offset": "0", "length": "16384",
    }  # fmt: skip
    assert kept["b"].raw_data == tiny.weights(64).tobytes()
    assert (tmp_path / HOLES).stat().st_size == 16384


@pytest.mark.real
def test_a_model_without_names_finds_its_external_weights(tmp_path: Path) -> None:
    path = tiny.save_external(models.gelu(named=False), tmp_path)
    observation = observe(Model(path, "gelu"), Config())
    assert observation.exact
    assert all(node.name for node in observation.source.nodes)


@pytest.mark.real
def test_a_disabled_pass_does_not_fire_and_what_is_missed_says_so(tmp_path: Path) -> None:
    from workbench.features.explain.explanation import explain

    path = tiny.save(models.gelu(), tmp_path)
    explanation = explain(Model(path, "gelu"), Config(disabled_passes=("GeluFusionL2", "GeluFusionL1")))
    assert "GeluFusionL2" not in explanation.passes.names
    (place,) = [place for place in explanation.passes.missed if place.pattern == "gelu"]
    assert place.reason_from == "the config"


@pytest.mark.real
def test_no_time_for_snapshots_is_said_and_the_end_is_still_ort_s(tmp_path: Path) -> None:
    path = tiny.save(models.gelu(), tmp_path)
    observation = observe(Model(path, "gelu"), Config(), budget_s=0.0)
    assert not observation.exact
    assert "stopped after 0 s" in (observation.problem or "")
    assert any(node.op_type == "BiasGelu" for node in observation.final.nodes)


LOG = without_colors(
    """
2026-11-21 08:00:00.1 [V:onnxruntime:, graph_transformer_mgr.cc:35 ApplyTransformers] Applying 2 graph transformer(s) for level 2 for up to 10 step(s).
2026-11-21 08:00:00.1 [V:onnxruntime:, graph_transformer_mgr.cc:55 ApplyTransformers] Applying graph transformer AttentionFusion on step 1.
\x1b[0;93m2026-11-21 08:00:00.1 [V:onnxruntime:, attention_fusion.cc:9 Fuse] no path to v\x1b[m
2026-11-21 08:00:00.1 [I:onnxruntime:, graph_transformer.cc:15 Apply] GraphTransformer AttentionFusion modified: 0 with status: OK
2026-11-21 08:00:00.1 [V:onnxruntime:, graph_transformer_mgr.cc:55 ApplyTransformers] Applying graph transformer GeluFusionL2 on step 1.
2026-11-21 08:00:00.1 [I:onnxruntime:, graph_transformer.cc:15 Apply] GraphTransformer GeluFusionL2 modified: 1 with status: OK
"""  # noqa: E501
).splitlines()


def test_the_log_tells_what_fired_and_what_was_said() -> None:
    first, second = read_passes(LOG)
    assert first == {
        "level": 2,
        "step": 1,
        "name": "AttentionFusion",
        "fired": False,
        "said": ["no path to v"],
    }
    assert (second["name"], second["fired"], second["said"]) == ("GeluFusionL2", True, [])


def test_a_log_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    assert [application["fired"] for application in read_passes(LOG[:3])] == [False]
    assert read_passes([]) == []
    assert read_passes(LOG[3:4]) == [], "results alone name no level"


@pytest.mark.real
def test_another_interpreter_can_be_named_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    path = tiny.save(models.gelu(), tmp_path)
    assert observe(Model(path, "gelu"), Config(runtime=sys.executable)).exact
    gone = tmp_path / "python"
    gone.symlink_to(sys.executable)
    config = Config(runtime=str(gone))
    gone.unlink()
    with pytest.raises(ConfigError, match="no such interpreter"):
        observe(Model(path, "gelu"), config)
