"""A profile as it is saved: the columns of its trace, as many runs as a file should hold, and its graph."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.core.bundle.codec import TABLE
from workbench.core.errors import BundleError, ModelError
from workbench.core.models.structure import structure_of_bytes
from workbench.features.profile.session_profile import Overhead, SessionProfile
from workbench.features.profile.trace import NO_CODE, Trace
from workbench.features.profile.tree import NO_PARENT

MOST_EVENTS = 200_000  # twice what the flame view draws; about 4 MB in the file
_CODES = (("category", "categories"), ("name", "names"))
_MAYBE = (("call", "calls"), ("arena", "arenas"), ("args", "other_args"))
_COLUMNS = ("category", "name", "call", "arena", "args", "pid", "tid", "start_us", "duration_us")


@dataclass(frozen=True, eq=False)
class ProfileRecord:
    """Everything that tables, tree, memory, roofline and flame view are made of."""

    trace: Trace
    warmup_runs: int | None  # None: one, when there are three or more
    overhead: Overhead | None
    scopes: Mapping[str, str] = field(metadata=TABLE)  # modules of nodes whose names do not tell them
    graph: bytes | None  # the graph that ran, as ONNX, without the payload of large tensors


def record_of(profile: SessionProfile) -> ProfileRecord:
    """Record a profile: whole, or its first runs with a note that says so."""
    graph = profile.optimized
    return ProfileRecord(
        trace=shortened(profile),
        warmup_runs=profile.told_warmup_runs,
        overhead=profile.overhead,
        scopes=dict(profile.scopes),
        graph=None
        if graph is None
        else structure_of_bytes(graph.SerializeToString(), "the graph that ran").SerializeToString(),
    )


def profile_of(record: ProfileRecord) -> SessionProfile:
    """Make the profile of a record."""
    graph = None if record.graph is None else structure_of_bytes(record.graph, "the graph that ran")
    return SessionProfile(
        record.trace,
        warmup_runs=record.warmup_runs,
        overhead=record.overhead,
        optimized=graph,
        scopes=record.scopes,
    )


def shortened(profile: SessionProfile, most: int = MOST_EVENTS) -> Trace:
    """Return the trace with at most that many events: its first runs, and what is outside of runs."""
    trace, run = profile.trace, profile.tree.run
    if len(trace) <= most:
        return trace
    outside = run == NO_PARENT
    sizes = np.bincount(run[~outside], minlength=len(profile.tree.runs))
    room = max(0, most - int(outside.sum()))
    least = min(len(sizes), profile.warmup_runs + 1)  # else no table would have a run
    runs = max(least, int(np.searchsorted(sizes.cumsum(), room, side="right")))
    kept = np.flatnonzero(outside | (run < runs))[: 2 * most]
    places = {int(event): place for place, event in enumerate(kept)}
    note = f"saved with the first {runs} of {len(sizes)} runs, {len(kept):,} of {len(trace):,} events"
    return replace(
        trace,
        **{name: getattr(trace, name)[kept] for name in _COLUMNS},
        scheduling=tuple(
            replace(call, event=places[call.event]) for call in trace.scheduling if call.event in places
        ),
        notes=(*trace.notes, note),
    )


def check(record: ProfileRecord, fix: str) -> None:
    """Check that columns have one length, numbers stay within their tables, JSON and graph can be read."""
    trace = record.trace
    if {len(getattr(trace, name)) for name in _COLUMNS} != {len(trace)} or not len(trace):
        raise BundleError("trace: expected columns of one length, with events.", fix)
    for least, pairs in ((0, _CODES), (NO_CODE, _MAYBE)):
        for name, table in pairs:
            column = getattr(trace, name)
            if column.min() < least or column.max() >= len(getattr(trace, table)):
                raise BundleError(f"trace.{name}: a number that stands for nothing in {table}.", fix)
    for name in ("start_us", "duration_us"):
        if np.isinf(getattr(trace, name)).any():
            raise BundleError(f"trace.{name}: a time without end.", fix)
    if any(not 0 <= call.event < len(trace) for call in trace.scheduling):
        raise BundleError("trace.scheduling: an event that is not there.", fix)
    for text in trace.other_args:
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BundleError("trace.other_args: a text that is no JSON.", fix) from error
    if record.warmup_runs is not None and record.warmup_runs < 0:
        raise BundleError("warmup_runs: expected zero or more.", fix)
    if record.graph is not None:
        try:
            structure_of_bytes(record.graph, "graph")
        except ModelError as error:
            raise BundleError(f"graph: {error.problem}", fix) from error
