"""How much of what ORT did is explained: `python -m benchmarks.explain [--nodes] [MODEL …]`.

Without models: the light ones of the onnx package; models are files or samples. `--nodes`: every node test
of the onnx package that this ORT loads. `--chain N`: a made graph of N nodes, and how many times ORT's own
loading it takes to open, describe, explain and draw it, by turns in the same run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto

from benchmarks.models import Net
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.models import Model, load
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.features.explain.explanation import Explained, conclude, explain
from workbench.features.explain.graph_view import graph_view
from workbench.features.explain.observe import (
    chain_question,
    first_question,
    named_structure,
    observe,
    read_chain,
    read_first,
    source_graph,
)
from workbench.features.explain.provenance.account import FATES

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
ROUNDS = 5
NEWEST_IR, NEWEST_OPSET = 13, 26  # that ORT 1.31 takes


def explain_here(path: Path, budget_s: float = 120.0) -> Explained:
    """As `wb.explain`, with the job in this process: 1,800 tiny models do not pay for a process each."""
    from workbench.core.worker.snapshots import run

    with tempfile.TemporaryDirectory() as name:
        folder, model = Path(name), Model(path, path.stem)
        structure = named_structure(model)
        first = run(**first_question(model, Config(), folder))
        observation = read_first(first, source_graph(structure))
        chain = run(**chain_question(model, structure, Config(), folder, first, budget_s))
        return conclude(path.stem, Config(), read_chain(observation, chain))


def row(name: str, explained: Explained, elapsed_s: float) -> dict[str, Any]:
    account = explained.provenance.account
    return {
        "model": name,
        "source": len(account.sources),
        "optimized": len(account.optimized),
        **{fate: account.count(fate) for fate in FATES},
        "untraced": explained.provenance.untraced,
        "exact": explained.provenance.exact,
        "problem": explained.provenance.problem,
        "elapsed_s": round(elapsed_s, 3),
        "ort_load_s": round(explained.load_s, 3),
    }


def of_models(names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        began = time.perf_counter()
        model = load(name)
        explained = conclude(model.name, Config(), observe(model, Config(), passes=True))
        yield row(model.name, explained, time.perf_counter() - began)


def ort_load_s(path: Path) -> float:
    """What ORT itself needs to load and optimize a model with its defaults, in a fresh process."""
    with WorkerFolder() as folder, Worker(folder, name="plain") as worker:
        worker.hello(timeout_s=60)
        body = {"model": str(path), "plan": Config().plan().to_dict()}
        return float(worker.request("load", body, stage="load", timeout_s=600).body["load_s"])


def against_ort(path: Path) -> None:
    """By turns: ORT alone, then everything up to the first picture, process start included.

    The first picture is what a cell shows: the graph view, ready for the browser, and its still picture.
    """
    rows = []
    for number in range(ROUNDS):
        ort_s = ort_load_s(path)
        began = time.perf_counter()
        model = load(str(path))
        model.describe()
        described_s = time.perf_counter() - began
        explained = explain(model, Config())
        first_s = time.perf_counter() - began
        graph_view(explained).still().to_png()
        drawn_s = time.perf_counter() - began
        rows.append((ort_s, described_s, first_s, drawn_s))
        print(
            f"round {number + 1}: ORT loads in {ort_s:.3f} s; described after {described_s:.3f} s, explained "
            f"after {first_s:.3f} s, drawn after {drawn_s:.3f} s ({explained.provenance.unknown} unknown, "
            f"{explained.provenance.untraced} untraced)",
            flush=True,
        )
    ort_s, described_s, first_s, drawn_s = (median(column) for column in zip(*rows, strict=True))
    began = time.perf_counter()
    explain(load(str(path)), Config(), passes=True)
    whole_s = time.perf_counter() - began
    print(
        f"{len(explained.source.nodes)} nodes, medians of {ROUNDS} rounds: ORT {ort_s:.3f} s, "
        f"open and describe {described_s:.3f} s, "
        f"explain {first_s:.3f} s = {first_s / ort_s:.2f} times ORT's own load, "
        f"first picture {drawn_s:.3f} s = {drawn_s / ort_s:.2f} times; "
        f"every pass followed {whole_s:.3f} s = {whole_s / ort_s:.2f} times"
    )


def node_tests() -> Iterator[tuple[str, ModelProto]]:
    """The onnx package's node tests, at versions that this ORT takes."""
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        model = ModelProto()
        model.CopyFrom(case.model)
        model.ir_version = min(model.ir_version, NEWEST_IR)
        for opset in model.opset_import:
            if opset.domain in ("", "ai.onnx"):
                opset.version = min(opset.version, NEWEST_OPSET)
        yield case.name, model


def of_nodes(every: int = 1, first: int = 0) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, model) in enumerate(node_tests()):
            if number % every != first:
                continue
            path = Path(folder, f"{name}.onnx")
            path.write_bytes(model.SerializeToString())
            began = time.perf_counter()
            try:
                yield row(name, explain_here(path), time.perf_counter() - began)
            except WorkbenchError as error:
                yield {"model": name, "refused": error.problem}
            except Exception as error:
                if not type(error).__module__.startswith("onnxruntime"):
                    raise
                yield {"model": name, "refused": str(error)[:200]}


def chain(count: int, folder: Path) -> Path:
    """MatMul, Add, Relu over and over."""
    net, last = Net(["n", 4]), "x"
    weight, bias = net.constant("w", np.full((4, 4), 0.1)), net.constant("b", np.full(4, 0.1))
    for index in range(count // 3):
        product = net.add("MatMul", last, weight, name=f"matmul{index}")
        last = net.add("Relu", net.add("Add", product, bias, name=f"add{index}"), name=f"relu{index}")
    path = folder / f"chain-{count}.onnx"
    onnx.save(net.model(), path)
    return path


def summary(rows: list[dict[str, Any]]) -> str:
    explained = [row for row in rows if "refused" not in row]
    sources = sum(row["source"] for row in explained)
    optimized = sum(row["optimized"] for row in explained)
    unknown, untraced = (sum(row[key] for row in explained) for key in ("unknown", "untraced"))
    return (
        f"{len(explained)} models explained, {len(rows) - len(explained)} refused by ORT; "
        f"{sources} source nodes, {100 * unknown / max(sources, 1):.3f} % unknown; "
        f"{optimized} optimized nodes, "
        f"{100 * (1 - untraced / max(optimized, 1)):.3f} % traced; "
        f"{sum(row['exact'] for row in explained)} chains end in exactly ORT's graph"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*")
    parser.add_argument("--nodes", action="store_true")
    parser.add_argument("--chain", type=int, default=0)
    asked = parser.parse_args()
    if asked.chain:
        with tempfile.TemporaryDirectory() as folder:
            against_ort(chain(asked.chain, Path(folder)))
        return
    rows = []
    names = asked.models or [str(path) for path in sorted(LIGHT.glob("*.onnx"))]
    for node in of_nodes() if asked.nodes else of_models(names):
        rows.append(node)
        if not asked.nodes or node.get("unknown") or node.get("untraced") or node.get("exact") is False:
            print(node, flush=True)
    print(summary(rows))


if __name__ == "__main__":
    main()
