"""Partitions, boundaries, and ORT's record carried across passes: on hand-made graphs, by equality."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import amount
from tests.features.explain.conftest import Explain
from tests.features.explain.graphs import Draft, drafts, node
from workbench.core.errors import ConfigError
from workbench.core.models.graph import Graph, TensorInfo
from workbench.features.explain.observe import Observation, Snapshot
from workbench.features.explain.placement.prediction import predict
from workbench.features.explain.placement.records import Placement, boundaries, partitions
from workbench.features.explain.placement.resolve import place
from workbench.features.explain.placement.support import support_tables
from workbench.features.explain.provenance.account import account, steps_of

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


def _placed(observation: Observation, requested: tuple[str, ...]) -> Placement:
    chain = [(shot.name, shot.level, shot.graph) for shot in observation.chain]
    return place(
        observation, requested, account(observation.source, chain), steps_of(observation.source, chain)
    )


def test_a_node_on_another_provider_cuts() -> None:
    graph = _line()
    where = {"a": CUDA, "b": CPU, "c": CUDA, "d": CUDA}
    parts = partitions(graph, where)
    assert parts["a"] == parts["c"] == parts["d"] != parts["b"]
    crossing = [
        (boundary.tensor, boundary.from_provider, boundary.to_provider, boundary.size_bytes)
        for boundary in boundaries(graph, where, parts)
    ]
    assert crossing == [("ta", CUDA, CPU, 24), ("tb", CPU, CUDA, 8)]


@settings(max_examples=amount(100))
@given(drafts(), st.data())
def test_partitions_are_maximal_and_connected(draft: Draft, data: st.DataObject) -> None:
    graph = draft.graph()
    where = {node.key: data.draw(st.sampled_from((CPU, CUDA))) for node in graph.nodes}
    parts = partitions(graph, where)
    edges = [
        (graph.producers[name].key, node.key)
        for node in graph.nodes
        for name in node.reads
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
    placement = _placed(_observed(_line(), {CUDA: ["a", "c", "d"], CPU: ["b"]}), (CUDA,))
    assert [(node.node, node.provider) for node in placement.nodes] == [
        ("a", CUDA),
        ("b", CPU),
        ("c", CUDA),
        ("d", CUDA),
    ]
    assert placement.partitions == 2
    assert dict(placement.sources) == {"a": CUDA, "b": CPU, "c": CUDA, "d": CUDA}
    assert placement.to_frame().columns.tolist()[:4] == ["node", "op_type", "provider", "partition"]


def test_a_fused_node_runs_where_its_parts_were_recorded() -> None:
    graph = _line()
    fused = Graph(
        (graph.nodes[0], node("bc", "ErfRelu", ("ta",), "tc", "com.microsoft"), graph.nodes[3]),
        ("x",), ("td",), {}, {},
    )  # fmt: skip
    chain = (Snapshot("required", 0, graph), Snapshot("Fusion", 2, fused))
    placement = _placed(_observed(graph, {CUDA: ["b", "c"], CPU: ["a", "d"]}, chain=chain), (CUDA,))
    assert [(node.node, node.provider) for node in placement.nodes] == [("a", CPU), ("bc", CUDA), ("d", CPU)]


def test_a_provider_that_did_not_load_is_named_in_the_words_of_the_loader() -> None:
    words = "[E:] Failed to load CUDA: libcublasLt.so.13: cannot open shared object file"
    observation = _observed(
        _line(), {CPU: ["a", "b", "c", "d"]}, providers=(CPU,), warnings=(words, "[W:] other")
    )
    placement = _placed(observation, (CUDA, CPU))
    assert placement.not_loaded == ((CUDA, words),)
    assert placement.nodes[0].provider == CPU
    assert "libcublasLt" in (placement.nodes[0].reason or "")


def test_why_a_node_fell_through_is_said_in_the_words_of_whom_said_it() -> None:
    messages = (
        "CUDA kernel not found in registries for Op type: Erf node name: b",
        "ORT optimization- Force fallback to CPU execution for node: d because the CPU path is faster",
    )
    placement = _placed(_observed(_line(), {CUDA: ["a"], CPU: ["b", "c", "d"]}, left=messages), (CUDA,))
    assert [node.reason for node in placement.nodes] == [
        None,
        messages[0],
        f"{CUDA} did not take it, and neither it nor ORT says why",
        messages[1],
    ]


def test_what_is_not_recorded_stays_unknown() -> None:
    placement = _placed(_observed(_line(), {CUDA: ["a"]}), ())
    assert [node.provider for node in placement.nodes] == [CUDA, None, None, None]
    assert placement.nodes[1].time_s is None


@pytest.mark.real
def test_a_prediction_says_that_it_is_one(explained: Explain) -> None:
    prediction = predict(explained("conv").basic, "coreml")
    assert prediction.taken + prediction.unknown <= len(prediction.nodes)
    assert "Prediction" in str(prediction)
    assert set(prediction.to_frame()["prediction"]) <= {
        "prediction: would run there",
        "prediction: stays on the CPU",
        "unknown",
    }
    assert prediction.source.startswith("ONNX Runtime's own list")


def test_a_provider_without_a_table_is_refused() -> None:
    with pytest.raises(ConfigError, match="no support table for 'abacus'"):
        predict(_line(), "abacus")
    assert {table.provider for table in support_tables()} >= {
        "CoreMLExecutionProvider",
        "NnapiExecutionProvider",
    }


@pytest.mark.real
def test_what_a_table_does_not_say_is_unknown(explained: Explain) -> None:
    prediction = predict(explained("gelu").optimized, "cuda")
    takes = {node.op_type: node.takes for node in prediction.nodes}
    assert takes["MatMul"] is True
    assert takes["com.microsoft::BiasGelu"] is None
    assert prediction.unknown >= 1
    assert "1.15" in prediction.version
