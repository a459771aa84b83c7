"""Of every node test of the ONNX project that ORT loads, all nodes are accounted for, and nothing raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.explain import of_nodes
from workbench.features.explain.provenance.account import FATES

pytestmark = [pytest.mark.real, pytest.mark.release]

SHARDS = 8
LEAST = 200  # of the 216 in a shard; in onnx 1.23, 1,729 of 1,884 load on ORT 1.31
UNKNOWN = 0.01  # of all nodes, at most


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_node_is_accounted_for(shard: int) -> None:
    """An exception of ours is not caught there; what ORT itself refuses is."""
    rows = [row for row in of_nodes(SHARDS, shard) if "refused" not in row]
    assert len(rows) >= LEAST
    sources, optimized = (sum(row[key] for row in rows) for key in ("source", "optimized"))
    assert sum(row[fate] for row in rows for fate in FATES) == sources
    assert _count(rows, "unknown") <= UNKNOWN * sources
    assert _count(rows, "untraced") <= UNKNOWN * optimized
    assert [row["model"] for row in rows if not row["exact"] and row["problem"] is None] == []


def _count(rows: Sequence[dict[str, Any]], key: str) -> int:
    return sum(row[key] for row in rows)
