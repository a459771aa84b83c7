"""Make panes and links of explanations: a source beside its optimized graph, or two optimized graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from workbench.core.models.graph import Graph, Node
from workbench.features.explain.explanation import Explained
from workbench.features.explain.graph_view.pane import GraphRow, Pane, TensorErrors, pane_of, shape_text
from workbench.features.explain.graph_view.scopes import common_path, paths_of
from workbench.features.explain.placement.prediction import PlacementPrediction
from workbench.features.explain.provenance.account import Account, account, same_graph

CPU = "CPUExecutionProvider"
Links = tuple[tuple[int, int], ...]


def source_pane(explained: Explained) -> Pane:
    """Return the source graph, each node with its fate."""
    fates = {record.node: record for record in explained.provenance.account.sources}
    where = dict(explained.placement.sources)
    rows = {}
    for node in explained.source.nodes:
        fate = fates.get(node.key)
        rows[node.key] = _row(
            explained.source,
            node,
            provider=where.get(node.key),
            fate=fate.fate if fate else "unknown",
            passes=fate.passes if fate else (),
        )
    return pane_of(explained.source, rows, title="source")


def optimized_pane(
    explained: Explained,
    times_s: Mapping[str, float] | None = None,
    title: str = "optimized",
    errors: TensorErrors | None = None,
) -> Pane:
    """Return the graph that runs: provider, partition, fate, and time where a profile has it.

    A node stands in the modules of its sources, so that it has the same place on both sides.
    """
    graph = explained.basic if explained.placement.of_basic_graph else explained.optimized
    placed = {record.node: record for record in explained.placement.nodes}
    traced = {record.node: record for record in explained.provenance.account.optimized}
    rows, known = {}, {}
    source_paths = paths_of(explained.source)
    outputs = {node.key: node.outputs for node in explained.source.nodes}
    for node in graph.nodes:
        place, trace = placed.get(node.key), traced.get(node.key)
        time_s = place.time_s if place else None
        if times_s is not None:
            time_s = times_s.get(node.key, times_s.get(node.name))
        swallowed = [outputs[key] for key in (trace.sources if trace else ()) if key in outputs]
        inserted = bool((place and place.inserted) or (trace and trace.inserted))
        rows[node.key] = _row(
            graph,
            node,
            provider=place.provider if place else None,
            partition=place.partition if place else None,
            fate=_fate(len(trace.sources) if trace else 0, inserted),
            inserted=inserted,
            passes=trace.passes if trace else (),
            time_s=time_s,
            note=(place.reason or "") if place else "",
            error="" if errors is None else errors.words((*node.outputs, *chain(*swallowed))),
        )
        if trace and trace.sources:
            known[node.key] = common_path([source_paths[key] for key in trace.sources if key in source_paths])
    return pane_of(graph, rows, known, title=title)


def predicted_pane(explained: Explained, prediction: PlacementPrediction) -> Pane:
    """Return where nodes would run on a provider that is not on this machine."""
    rows = {}
    predictions = {predicted.node: predicted for predicted in prediction.nodes}
    for node in explained.basic.nodes:
        predicted = predictions[node.key]
        rows[node.key] = _row(
            explained.basic,
            node,
            provider={True: prediction.provider, False: CPU, None: None}[predicted.takes],
            partition=predicted.partition,
            note=f"prediction: {predicted.condition}" if predicted.condition else "prediction",
        )
    note = f"PREDICTION, nothing of this ran. From {prediction.source}, ORT {prediction.version}"
    title = f"predicted on {prediction.provider.removesuffix('ExecutionProvider')}"
    return pane_of(explained.basic, rows, title=title, note=note)


def _row(graph: Graph, node: Node, **fields: Any) -> GraphRow:
    infos = [graph.info(name) for name in node.outputs if name]
    sizes = [info.size_bytes if info else None for info in infos]
    known = [size for size in sizes if size is not None]
    return GraphRow(
        node=node.key,
        op_type=node.kind,
        shapes=", ".join(text for info in infos if (text := shape_text(info))),
        size_bytes=sum(known) if known and len(known) == len(sizes) else None,
        **fields,
    )


def _fate(sources: int, inserted: bool) -> str:
    if inserted:
        return "inserted"
    return "unknown" if sources == 0 else "kept" if sources == 1 else "fused"


def links_of_one(explained: Explained, before: Pane, after: Pane) -> Links:
    """Link source rows to the optimized rows that do their work; link inputs and outputs by name."""
    return _links(before, after, _sources(explained.provenance.account))


def links_of_two(before: Explained, after: Explained, left: Pane, right: Pane) -> Links:
    """Link rows that do the work of the same source nodes, also where one source was made of the other."""
    first, second = (_sources(explained.provenance.account) for explained in (before, after))
    if before.source is not after.source and not same_graph(before.source, after.source):
        chain = account(before.source, [("prepared", 0, after.source)])
        back = _sources(chain)
        second = {
            key: tuple(dict.fromkeys(origin for source in sources for origin in back.get(source, ())))
            for key, sources in second.items()
        }
    holders: dict[str, list[str]] = {}
    for key, origins in first.items():
        for origin in origins:
            holders.setdefault(origin, []).append(key)
    met = {
        key: tuple(dict.fromkeys(holder for origin in origins for holder in holders.get(origin, ())))
        for key, origins in second.items()
    }
    return _links(left, right, met)


def _sources(provenance: Account) -> dict[str, tuple[str, ...]]:
    return {trace.node: trace.sources for trace in provenance.optimized}


def _links(before: Pane, after: Pane, sources: Mapping[str, Sequence[str]]) -> Links:
    left = _positions(before, "node")
    ports = {kind: _positions(before, kind) for kind in ("input", "output")}
    links = []
    for index, row in enumerate(after.rows):
        if row.kind != "node":
            same: Iterable[int | None] = (ports[row.kind].get(row.node),)
        else:
            same = (left.get(key) for key in sources.get(row.node, ()))
        links += [(linked, index) for linked in same if linked is not None]
    return tuple(sorted(links))


def _positions(pane: Pane, kind: str) -> dict[str, int]:
    return {row.node: index for index, row in enumerate(pane.rows) if row.kind == kind}
