"""Times of a profile at the nodes, parts and providers of a placement; everything that ran has its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.core.models import tiny
from tests.features.explain import models
from tests.features.explain.graphs import node
from tests.features.profile import traces
from workbench.core.errors import ProfileError
from workbench.core.models.graph import Graph
from workbench.features.explain.calls import explain
from workbench.features.explain.placement.records import Boundary, CompiledPart, PlacedNode, Placement
from workbench.features.explain.placement.resolve import with_profile
from workbench.features.profile.calls import read_profile
from workbench.features.profile.session_profile import SessionProfile

CPU, NPU = "CPUExecutionProvider", "NpuExecutionProvider"
SHAPE = [{"float": [2, 8]}]


def line() -> Graph:
    nodes = tuple(
        node(name, op, (before,), after)
        for name, op, before, after in (
            ("a", "Relu", "x", "ta"),
            ("b", "Erf", "ta", "tb"),
            ("c", "Inverse", "tb", "tc"),
            ("d", "Relu", "tc", "td"),
        )
    )
    return Graph(nodes, ("x",), ("td",), {}, {})


def placement() -> Placement:
    """Two parts that the NPU compiled, and a node between them."""
    where = {"a": (NPU, 0), "b": (NPU, 0), "c": (CPU, 1), "d": (NPU, 2)}
    nodes = tuple(PlacedNode(key, "Op", *place, inserted=False, reason=None) for key, place in where.items())
    crossing = (Boundary("tb", "b", NPU, CPU, 0, 1, None), Boundary("tc", "c", CPU, NPU, 1, 2, None))
    parts = (CompiledPart(NPU, ("a", "b")), CompiledPart(NPU, ("d",)))
    return Placement(nodes, crossing, (), (NPU,), (NPU, CPU), (), True, parts)


def profile(folder: Path, *, strange: bool = False) -> SessionProfile:
    """Two runs: 30 us in the first part, 10 us in the node, 50 us in the second part."""
    events = []
    for start in (0.0, 1000.0):
        events += [
            traces.node("NPU-subgraph_1_0", start, 30, "NPU-subgraph_1", provider=NPU),
            traces.node("c", start + 40, 10, "Inverse", input_type_shape=SHAPE, output_type_shape=SHAPE),
            traces.node("NPU-subgraph_2_1", start + 60, 50, "NPU-subgraph_2", provider=NPU),
            *([traces.node("surprise", start + 112, 5, "Surprise")] if strange else []),
            traces.event("SequentialExecutor::Execute", start, 120, "Session"),
            traces.event("model_run", start, 130, "Session"),
        ]
    return read_profile(traces.write(folder, events), warmup_runs=0)


def test_a_compiled_part_gets_the_time_of_its_one_event(tmp_path: Path) -> None:
    joined = with_profile(placement(), line(), profile(tmp_path))
    assert [part.time_s for part in joined.compiled] == pytest.approx([30e-6, 50e-6])
    assert [strange.time_s for strange in joined.nodes] == [None, None, pytest.approx(10e-6), None]
    assert joined.time_s == pytest.approx(90e-6)
    assert joined.unplaced == ()
    frame = joined.providers_frame().set_index("provider")
    assert frame.loc[NPU, "time_share"] == pytest.approx(80 / 90)
    assert frame.loc[CPU, "node_share"] == 0.25
    assert frame.partitions.to_dict() == {NPU: 2, CPU: 1}
    assert joined.partitions_frame().time_s.tolist() == pytest.approx([30e-6, 10e-6, 50e-6])


def test_what_crosses_has_the_size_that_was_seen(tmp_path: Path) -> None:
    joined = with_profile(placement(), line(), profile(tmp_path))
    assert [strange.size_bytes for strange in joined.boundaries] == [64, 64]
    assert joined.providers_frame().set_index("provider").bytes_in.to_dict() == {NPU: 64, CPU: 64}


def test_what_ran_and_is_no_node_is_said_and_counted(tmp_path: Path) -> None:
    joined = with_profile(placement(), line(), profile(tmp_path, strange=True))
    (strange,) = joined.unplaced
    assert (strange.name, strange.provider) == ("surprise", CPU)
    assert joined.time_s == pytest.approx(95e-6)


def test_parts_that_cannot_be_told_apart_have_no_time(tmp_path: Path) -> None:
    less = replace(placement(), compiled=placement().compiled[:1])
    joined = with_profile(less, line(), profile(tmp_path))
    assert joined.compiled[0].time_s is None
    assert {strange.name for strange in joined.unplaced} == {"NPU-subgraph_1_0", "NPU-subgraph_2_1"}


def test_without_a_profile_no_time_is_told() -> None:
    frame = placement().providers_frame()
    assert frame.time_s.isna().all()
    assert placement().time_s is None


@pytest.mark.real
@pytest.mark.parametrize("name", ["gelu", "gelu unnamed", "conv", "half", "branches", "calls"])
def test_every_node_that_ran_is_placed(name: str, tmp_path: Path) -> None:
    explanation = explain(tiny.save(models.MODELS[name](), tmp_path), profile=True)
    assert explanation.placement.unplaced == ()
    ran = set(explanation.profile.to_frame().node)
    timed = {strange.node for strange in explanation.placement.nodes if strange.time_s is not None}
    names = {key: explanation.explained.optimized.by_key[key].name for key in timed}
    assert ran == set(names.values())
    assert explanation.placement.time_s == pytest.approx(explanation.profile.to_frame().self_s.sum())
    assert len(explanation.memory.to_frame())
    assert len(explanation.roofline.to_frame())


@pytest.mark.real
def test_loops_and_a_profile_that_was_not_asked_for(tmp_path: Path) -> None:
    explanation = explain(tiny.save(traces.looped(), tmp_path), profile=True)
    assert explanation.placement.unplaced == ()
    plain = explain(tiny.save(models.gelu(), tmp_path), passes=False)
    with pytest.raises(ProfileError, match="profile=True"):
        _ = plain.profile
