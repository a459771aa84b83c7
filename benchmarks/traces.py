"""A made trace of a transformer's runs, of any number of spans, for benchmarks and tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.features.profile.calls import read_profile
from workbench.features.profile.session_profile import SessionProfile

KINDS = ("MatMul", "Add", "Softmax", "LayerNormalization", "BiasGelu", "Transpose", "Reshape")
NODES = 1_000  # of one run
NODE_US = 20


def made_profile(spans: int, folder: Path, slowdown: float = 1.0) -> SessionProfile:
    """Runs of a thousand nodes each without gaps, in modules, read back from a file."""
    runs = max(2, spans // (NODES + 4))
    events: list[dict[str, Any]] = []
    now = 0
    for _ in range(runs):
        begin = now
        for index in range(NODES):
            duration = round((NODE_US + index % 13) * slowdown)
            events.append(_node(index, now, duration))
            now += duration
        events.append(_event("SequentialExecutor::Execute", begin, now - begin))
        events.append(_event("model_run", begin, now - begin))
        now += 50
    path = folder / f"made-{spans}-{slowdown}.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, events)) + "\n]\n", encoding="utf-8")
    return read_profile(path, warmup_runs=0)


def _node(index: int, start: int, duration: int) -> dict[str, Any]:
    kind = KINDS[index % len(KINDS)]
    module = f"/model/encoder/layer.{index // 84}/{('attention', 'output')[index % 2]}"
    args = {"op_name": kind, "provider": "CPUExecutionProvider", "node_index": str(index)}
    event = _event(f"{module}/{kind}_{index}_kernel_time", start, duration)
    return {**event, "cat": "Node", "args": args}


def _event(name: str, start: int, duration: int) -> dict[str, Any]:
    return {
        "cat": "Session",
        "pid": 1,
        "tid": 1,
        "ts": start,
        "dur": duration,
        "ph": "X",
        "name": name,
        "args": {},
    }
