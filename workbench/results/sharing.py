"""A result as a file to hand on: the graphs in it without weights and without texts of the model's author."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.records.bundle import pack_record
from workbench.records.kinds import Part
from workbench.results.registry import KINDS


def packed(result: Any, *, weights: bool) -> bytes:
    """The bundle of a result, without paths of this machine."""
    record, structure, parts = result.saved, result.structure, result.parts
    if not weights:
        record, parts = _stripped(record), tuple(_stripped(part) for part in parts)
        structure = None if structure is None else _stripped(structure) or None
    return pack_record(record, structure, private=False, about=result.about, parts=parts, kinds=KINDS)


def _stripped(value: Any) -> Any:
    """A graph, or the record or part that holds one."""
    if isinstance(value, bytes):
        from workbench.models.sharing import shareable  # which imports onnx

        return shareable(value)
    if isinstance(value, Part):
        return replace(value, record=_stripped(value.record))
    graph = getattr(value, "graph", None)
    return replace(value, graph=_stripped(graph)) if isinstance(graph, bytes) else value
