"""Partitions, boundaries, and ORT's record carried across passes: on hand-made graphs, by equality."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.conftest import Explain
from tests.analysis.graphs import Draft, drafts, node
from workbench.analysis.graph import Graph, TensorInfo
from workbench.analysis.observe import Observation, Snapshot
from workbench.analysis.placement import Placement, boundaries, partitions, place, predict, support_tables
from workbench.analysis.provenance import account, steps_of
from workbench.errors import ConfigError

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


def _line() -> Graph:
    """a → b → c → d, with a second reader of a at the end."""
    nodes = (
        node("a", "Relu", ("x",), "ta"),
        node("b", "Erf", ("ta",), "tb"),
        node("c", "Relu", ("tb",), "tc"),
        node("d", "Add", ("tc", "ta"), "td"),
    )
    return Graph(nodes, ("x",), ("td",), {}, {"ta": TensorInfo(1, (2, 3)), "tb": TensorInfo(10, (4,))})


def _observed(graph: Graph, assignment: dict[str, list[str]], **changes: object) -> Observation:
    facts = {
        "source": graph,
        "chain": (Snapshot("required", 0, graph),),
        "final_saved": True,
        "followed": True,
        "left": (),
        "exact": True,
        "problem": None,
        "applied": (),
        "providers": (CUDA, CPU),
        "assignment": tuple(
            (ep, tuple((name, "", "") for name in names)) for ep, names in assignment.items()
        ),
        "warnings": (),
        "load_s": 0.1,
        "level": 4,
    }
    return Observation(**{**facts, **changes})  # type: ignore[arg-type]


def _placed(seen: Observation, requested: tuple[str, ...]) -> Placement:
    chain = [(shot.name, shot.level, shot.graph) for shot in seen.chain]
    return place(seen, requested, account(seen.source, chain), steps_of(seen.source, chain))


def test_a_node_on_another_provider_cuts() -> None:
    graph = _line()
    where = {"a": CUDA, "b": CPU, "c": CUDA, "d": CUDA}
    parts = partitions(graph, where)
    assert parts["a"] == parts["c"] == parts["d"] != parts["b"]
    crossing = [
        (one.tensor, one.from_provider, one.to_provider, one.size_bytes)
        for one in boundaries(graph, where, parts)
    ]
    assert crossing == [("ta", CUDA, CPU, 24), ("tb", CPU, CUDA, 8)]


@settings(max_examples=100, deadline=None)
@given(drafts(), st.data())
def test_partitions_are_maximal_and_connected(draft: Draft, data: st.DataObject) -> None:
    graph = draft.graph()
    where = {one.key: data.draw(st.sampled_from((CPU, CUDA))) for one in graph.nodes}
    parts = partitions(graph, where)
    edges = [
        (graph.producers[name].key, one.key)
        for one in graph.nodes
        for name in one.reads
        if name in graph.producers
    ]
    for first, second in edges:  # maximal: no edge inside a provider leaves its partition
        assert (parts[first] == parts[second]) == (where[first] == where[second])
    for number in set(parts.values()):  # connected: every member is reached from one of them
        members = {key for key, part in parts.items() if part == number}
        assert len({where[key] for key in members}) == 1
        reached = {min(members)}
        while (
            grown := {b for a, b in (*edges, *((b, a) for a, b in edges)) if a in reached and b in members}
            - reached
        ):
            reached |= grown
        assert reached == members


def test_the_record_is_joined_by_name() -> None:
    told = _placed(_observed(_line(), {CUDA: ["a", "c", "d"], CPU: ["b"]}), (CUDA,))
    assert [(one.node, one.provider) for one in told.nodes] == [
        ("a", CUDA),
        ("b", CPU),
        ("c", CUDA),
        ("d", CUDA),
    ]
    assert told.partitions == 2
    assert dict(told.sources) == {"a": CUDA, "b": CPU, "c": CUDA, "d": CUDA}
    assert told.to_frame().columns.tolist()[:4] == ["node", "op_type", "provider", "partition"]


def test_a_fused_node_runs_where_its_parts_were_recorded() -> None:
    graph = _line()
    fused = Graph(
        (graph.nodes[0], node("bc", "ErfRelu", ("ta",), "tc", "com.microsoft"), graph.nodes[3]),
        ("x",), ("td",), {}, {},
    )  # fmt: skip
    chain = (Snapshot("required", 0, graph), Snapshot("Fusion", 2, fused))
    told = _placed(_observed(graph, {CUDA: ["b", "c"], CPU: ["a", "d"]}, chain=chain), (CUDA,))
    assert [(one.node, one.provider) for one in told.nodes] == [("a", CPU), ("bc", CUDA), ("d", CPU)]


def test_a_provider_that_did_not_load_is_named_in_the_words_of_the_loader() -> None:
    words = "[E:] Failed to load CUDA: libcublasLt.so.13: cannot open shared object file"
    seen = _observed(_line(), {CPU: ["a", "b", "c", "d"]}, providers=(CPU,), warnings=(words, "[W:] other"))
    told = _placed(seen, (CUDA, CPU))
    assert told.not_loaded == ((CUDA, words),)
    assert told.nodes[0].provider == CPU
    assert "libcublasLt" in (told.nodes[0].reason or "")


def test_why_a_node_fell_through_is_said_in_the_words_of_whom_said_it() -> None:
    said = (
        "CUDA kernel not found in registries for Op type: Erf node name: b",
        "ORT optimization- Force fallback to CPU execution for node: d because the CPU path is faster",
    )
    told = _placed(_observed(_line(), {CUDA: ["a"], CPU: ["b", "c", "d"]}, left=said), (CUDA,))
    assert [one.reason for one in told.nodes] == [
        None,
        said[0],
        f"{CUDA} did not take it, and neither it nor ORT says why",
        said[1],
    ]


def test_what_is_not_recorded_stays_unknown() -> None:
    told = _placed(_observed(_line(), {CUDA: ["a"]}), ())
    assert [one.provider for one in told.nodes] == [CUDA, None, None, None]
    assert told.nodes[1].time_s is None


@pytest.mark.real
def test_a_prediction_says_that_it_is_one(explained: Explain) -> None:
    told = predict(explained("conv").basic, "coreml")
    assert told.taken + told.unknown <= len(told.nodes)
    assert "Prediction" in str(told)
    assert set(told.to_frame()["prediction"]) <= {
        "prediction: would run there",
        "prediction: stays on the CPU",
        "unknown",
    }
    assert told.source.startswith("ONNX Runtime's own list")


def test_a_provider_without_a_table_is_refused() -> None:
    with pytest.raises(ConfigError, match="no support table for 'abacus'"):
        predict(_line(), "abacus")
    assert {table.provider for table in support_tables()} >= {
        "CoreMLExecutionProvider",
        "NnapiExecutionProvider",
    }


@pytest.mark.real
def test_a_real_session_is_placed_wholly(explained: Explain) -> None:
    told = explained("light_squeezenet").placement
    assert {one.provider for one in told.nodes} == {CPU}
    assert told.partitions == 1
    assert told.boundaries == ()


@pytest.mark.real
def test_what_a_table_does_not_say_is_unknown(explained: Explain) -> None:
    told = predict(explained("gelu").optimized, "cuda")
    said = {one.op_type: one.takes for one in told.nodes}
    assert said["MatMul"] is True
    assert said["com.microsoft::BiasGelu"] is None
    assert told.unknown >= 1
    assert "1.15" in told.version
