"""Workers on tiny models, and ways to hurt them."""

from __future__ import annotations

import random
import stat
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.core.models import tiny
from tests.factories.runs import machine
from workbench.core.config import Config
from workbench.core.measure.blocks import BlockRound
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.interference import LoadWatch
from workbench.core.measure.limits import Limits
from workbench.core.measure.outcomes import Outcome
from workbench.core.measure.surroundings import Surroundings
from workbench.core.worker.launch import Worker
from workbench.core.worker.values import write_values

QUICK = Limits(start_s=60, load_s=60, run_s=60)


@dataclass(frozen=True)
class Case:
    """A setup and the candidates to measure in it."""

    folder: Path
    limits: Limits
    pacing_s: float | None
    candidates: tuple[Candidate, ...]


def case_for(
    folder: Path,
    proto: onnx.ModelProto,
    feed: dict[str, Any],
    *,
    configs: tuple[Config, ...] = (Config(),),
    plans: tuple[dict[str, Any], ...] | None = None,
    limits: Limits = QUICK,
    python: str = sys.executable,
    pacing_s: float | None = None,
) -> Case:
    """One candidate a config, or a plan, of a model that is written into the folder."""
    model = tiny.save(proto, folder)
    feeds = folder / "feeds"
    write_values(feeds, [feed])
    plans = plans or tuple(config.plan().to_dict() for config in configs)
    return Case(
        folder,
        limits,
        pacing_s,
        tuple(
            Candidate(label, Config(), model, plan, feeds, interpreter=python)
            for label, plan in zip("ABCDEF", plans, strict=False)
        ),
    )


def one_round(
    case: Case, *, cancel: threading.Event | None = None, with_outputs: bool = True, number: int = 1
) -> list[Outcome]:
    """Measure all candidates of a case once."""
    watch = LoadWatch()
    try:
        surroundings = Surroundings(machine(), case.folder, watch, cancel=cancel)
        return BlockRound(
            surroundings,
            case.limits,
            number,
            random.Random(0),
            began=time.perf_counter(),
            pacing_s=case.pacing_s,
            sampling_s=0.05,
            with_outputs=with_outputs,
        ).run(case.candidates)
    finally:
        watch.close()


def mlp_feed(rows: int = 2, width: int = 4) -> dict[str, Any]:
    return {"x": np.ones((rows, width), np.float32)}


def interpreter(folder: Path, script: str) -> str:
    """An executable that runs `script` before (or instead of) the real interpreter, which is "$PYTHON"."""
    path = folder / "python-with-a-twist"
    path.write_text(f'#!/bin/sh\nPYTHON="{sys.executable}"\n{script}\n')
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return str(path)


def load_plan() -> dict[str, Any]:
    return Config().plan().to_dict()


def endless_loop() -> onnx.ModelProto:
    """A Loop without a trip count whose condition stays true."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["condition_in"], ["condition_out"]),
            helper.make_node("Add", ["sum_in", "sum_in"], ["sum_out"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("trip", TensorProto.INT64, []),
            helper.make_tensor_value_info("condition_in", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum_in", TensorProto.FLOAT, [1]),
        ],
        [
            helper.make_tensor_value_info("condition_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum_out", TensorProto.FLOAT, [1]),
        ],
    )
    always = helper.make_node(
        "Constant", [], ["always"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True])
    )
    loop = helper.make_node("Loop", ["", "always", "x"], ["y"], body=body)
    graph = helper.make_graph(
        [always, loop],
        "endless",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def function_bomb(depth: int = 24) -> onnx.ModelProto:
    """Functions that call the next one twice: 2 to the power of `depth` nodes when ORT inlines them."""
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("bomb", 1)]
    functions = []
    for level in range(depth):
        call = ("Identity", "") if level == depth - 1 else (f"f{level + 1}", "bomb")
        nodes = [
            helper.make_node(call[0], ["a"], ["b"], domain=call[1]),
            helper.make_node(call[0], ["b"], ["c"], domain=call[1]),
        ]
        functions.append(helper.make_function("bomb", f"f{level}", ["a"], ["c"], nodes, opsets))
    graph = helper.make_graph(
        [helper.make_node("f0", ["x"], ["y"], domain="bomb")],
        "bomb",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)


def started(folder: Path, **changes: Any) -> Worker:
    worker = Worker(folder, name="W", **changes)
    worker.hello(timeout_s=60)
    return worker
