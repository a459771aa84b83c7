"""A model beyond 2 GB with its weights in a file beside it: `python -m benchmarks.large FOLDER`.

FOLDER gets the model and everything that is prepared of it, several times its size, and is not emptied
afterwards. Each call is a line of a JSON-lines file: its seconds, its answer, the size of the file that ran,
and the most memory that the calling process has had so far, which is what a notebook's kernel needs.
`--unpacked` keeps ONNX Runtime from packing the weights anew, which halves the memory of the workers.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx

import workbench as wb
from benchmarks.flaws.speed import COLUMNS, ROWS, large_model, write_weights
from benchmarks.frame import keep, moment, rows_of
from benchmarks.frame import table as markdown
from workbench.core.home import cache_folder
from workbench.core.worker.usage import peak_rss_bytes

ONE_BYTES = 4 * ROWS * COLUMNS  # of one weight in float32
QUIET: dict[str, Any] = {"progress": False, "keep": False}
PRECISIONS: dict[str, Any] = {
    "float16": wb.Float16(),
    "dynamic int8": wb.DynamicInt8(),
    "static int8": wb.StaticInt8(samples=2),
    "8-bit weights": wb.WeightOnly(bits=8),
    "4-bit weights": wb.WeightOnly(),
}
Answer = tuple[str, int | None]  # in words, and the bytes of the prepared file


def compared(precision: Any) -> Callable[[Path, wb.Config, float], Answer]:
    """Return the call that compares a precision with float32."""

    def compare(path: Path, config: wb.Config, budget_s: float) -> Answer:
        result = wb.compare(path, config, config.replace(precision=precision), budget_s=budget_s, **QUIET)
        run = result.runs[-1]
        for measured in result.runs:
            if measured.failure is not None:
                raise wb.WorkbenchError(measured.failure.problem, measured.failure.fix)
        worst = min((row.sqnr_db for row in result.agreement if row.sqnr_db is not None), default=math.inf)
        size = None if run.preparation is None else run.preparation.file_bytes
        return f"{result.verdict.kind}, error {100 * 10 ** (-worst / 20):.2g} %", size

    return compare


def explained(path: Path, config: wb.Config, _: float) -> Answer:
    return f"{len(wb.explain(path, config, keep=False).to_frame())} nodes", None


def profiled(path: Path, config: wb.Config, budget_s: float) -> Answer:
    return f"{len(wb.profile(path, config, budget_s=budget_s, keep=False).to_frame())} rows", None


def looked_at(path: Path, config: wb.Config, _: float) -> Answer:
    return ", ".join(finding.id for finding in wb.findings(path, config)) or "no finding", None


CALLS = {
    "explain": explained,
    "profile": profiled,
    "findings": looked_at,
    **{name: compared(precision) for name, precision in PRECISIONS.items()},
}


def row_of(call: str, path: Path, config: wb.Config, budget_s: float) -> dict[str, Any]:
    """Make one call; return its answer, or its problem, with the time and the peak of this process."""
    began_s, size = time.monotonic(), None
    try:
        answer, size = CALLS[call](path, config, budget_s)
    except wb.WorkbenchError as error:
        answer = f"refused: {error}"
    return {
        "call": call, "answer": answer, "seconds": time.monotonic() - began_s, "file_bytes": size,
        "peak_bytes": peak_rss_bytes(), **moment(),
    }  # fmt: skip


def report(rows: list[dict[str, Any]]) -> str:
    """Return the table of all calls."""
    lines = [
        (
            row["call"], f"{row['seconds']:.0f} s", row["answer"].splitlines()[0],
            "" if row["file_bytes"] is None else f"{row['file_bytes'] / 1e9:.2f} GB",
            f"{row['peak_bytes'] / 1e6:.0f} MB", f"{row['load']:.1f}",
        )
        for row in rows
    ]  # fmt: skip
    return markdown(("call", "took", "answer", "prepared file", "peak of the kernel so far", "load"), lines)


def made(folder: Path, gigabytes: float) -> Path:
    """Return the model in the folder, made where it is missing."""
    path, count = folder / "large.onnx", math.ceil(gigabytes * 1e9 / ONE_BYTES)
    if not path.exists():
        write_weights(folder / "weights.bin", count)
        onnx.save(large_model(share=False, count=count), path)
    return path


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", nargs="*", default=[*CALLS], choices=[*CALLS])
    parser.add_argument("--gigabytes", type=float, default=2.5, help="of float32 weights")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds of each comparison")
    parser.add_argument("--unpacked", action="store_true", help="weights stay as they are in memory")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    os.environ["WORKBENCH_HOME"] = str(options.folder / "home")
    path, held = made(options.folder, options.gigabytes), options.folder / "rows.jsonl"
    entries = {"session.disable_prepacking": "1"} if options.unpacked else {}
    config = wb.Config(session_entries=entries)
    for call in options.calls:
        keep(row_of(call, path, config, options.budget), held)
        print(report(rows_of(held)[-1:]).splitlines()[-1], flush=True)
    print(report(rows_of(held)), f"\nPrepared files lie in {cache_folder()}.")


if __name__ == "__main__":
    main()
