"""Every step on every sample: `python -m benchmarks.prepare_all`. Prints a table, and fails if one crashes.

A refusal is a result and shown with its reason; what a step makes must load and run, and its error is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from workbench.core.config import Config, DynamicInt8, Float16, StaticInt8, TransformerFusion, WeightOnly
from workbench.core.errors import PrepareError, WorkbenchError
from workbench.core.measure.agreement import compare_outputs
from workbench.core.models.loading import load
from workbench.core.models.model import Model
from workbench.core.models.samples import sample_names
from workbench.core.prepare.preparing import prepare
from workbench.core.prepare.runnable import cast_feeds
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import read_values, write_values

FEW = 8  # calibration examples: whether it works, not how well
CONFIGS: dict[str, Config] = {
    "float32": Config(),
    "fusion": Config(fusion=TransformerFusion()),
    "dynamic": Config(precision=DynamicInt8()),
    "static qdq": Config(precision=StaticInt8(samples=FEW)),
    "static qoperator": Config(precision=StaticInt8(format="qoperator", samples=FEW)),
    "static entropy": Config(precision=StaticInt8(calibrator="entropy", samples=2)),
    "static percentile": Config(precision=StaticInt8(calibrator="percentile", samples=2)),
    "static distribution": Config(precision=StaticInt8(calibrator="distribution", samples=2)),
    "weights 4": Config(precision=WeightOnly()),
    "weights 8": Config(precision=WeightOnly(bits=8)),
    "float16": Config(precision=Float16()),
    "float16 io": Config(precision=Float16(keep_io=False)),
    "saved onnx": Config(saved_graph="onnx"),
    "saved ort": Config(saved_graph="ort"),
    "fused float16": Config(fusion=TransformerFusion(), precision=Float16()),
    "fused dynamic": Config(fusion=TransformerFusion(), precision=DynamicInt8()),
    "dynamic saved": Config(precision=DynamicInt8(), saved_graph="onnx"),
}


def outputs(model: Model, config: Config, feeds: Any) -> list[dict[str, Any]]:
    """What a session of the file gives, in a worker."""
    with WorkerFolder() as folder, Worker(folder, name="run") as worker:
        worker.hello(timeout_s=120)
        write_values(folder / "feeds", cast_feeds(feeds, model))
        plan = config.plan().to_dict()
        worker.request("load", {"model": str(model.path), "plan": plan}, stage="load", timeout_s=600)
        worker.request("first_run", {"feeds": str(folder / "feeds")}, stage="first run", timeout_s=600)
        worker.request("outputs", {"path": str(folder / "out")}, stage="outputs", timeout_s=600)
        return read_values(folder / "out")


def one(model: Model, config: Config, feeds: Any, baseline: Any) -> dict[str, Any]:
    began = time.perf_counter()
    try:
        prepared = prepare(model, config)
    except PrepareError as error:
        return {"result": "refused", "why": error.problem, "prepare_s": time.perf_counter() - began}
    prepare_s = time.perf_counter() - began
    try:
        made = outputs(prepared.model, prepared.config, feeds)
    except WorkbenchError as error:
        return {"result": "CRASHED", "why": error.problem, "prepare_s": prepare_s}
    rows = compare_outputs("B", baseline or made, made, least_sqnr_db=10.0)
    worst = min(rows, key=lambda row: 1e9 if row.sqnr_db is None else row.sqnr_db)
    return {
        "result": "ok",
        "sqnr_db": worst.sqnr_db,
        "prepare_s": prepare_s,
        "did": [step.did for step in prepared.steps],
        "notes": prepared.notes,
        "file_bytes": prepared.record.file_bytes,
        "outputs": made,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prepare_all", description=__doc__)
    parser.add_argument("samples", nargs="*", metavar="SAMPLE", help="all, if none is given")
    parser.add_argument("--steps", nargs="*", choices=list(CONFIGS), default=list(CONFIGS))
    parser.add_argument("-o", "--output", type=Path, help="write a row a line, as JSON")
    asked = parser.parse_args(arguments)
    crashed = 0
    for name in asked.samples or sample_names():
        model = load(name)
        feeds = model.inputs(seed=1).feeds
        baseline = outputs(model, Config(), feeds)
        for step in asked.steps:
            row = {"sample": name, "step": step, **one(model, CONFIGS[step], feeds, baseline)}
            row.pop("outputs", None)
            crashed += row["result"] == "CRASHED"
            sqnr = "" if row.get("sqnr_db") is None else f"{row['sqnr_db']:.0f} dB"
            told = row.get("why") or "; ".join(row.get("did") or [])
            print(
                f"{name:24}{step:20}{row['result']:9}{row['prepare_s']:7.1f} s {sqnr:>7}  {told}", flush=True
            )
            if asked.output:
                with asked.output.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    print(f"{crashed} crashed")
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main())
