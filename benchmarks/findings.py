"""What the findings are worth: `python -m benchmarks.findings --parts recall sound exact speed`.

Parts that need no quiet machine: `recall` plants each kind of flaw into three sound models and asks whether
its finding is there and names the right nodes; `sound` counts findings of the sound models themselves;
`exact` compares the outputs before and after each fix that claims to keep them; `speed` times the scan of the
weights and the rules. Parts that measure: `gain` sets the predicted beside the measured speed-up; `improve`
lets `wb.improve` mend the planted models, then measures start, end and sound model in one interleaved run.

Each try is one line of the JSON-lines file; a second call goes on where the first was stopped. `--minutes`
ends a call early, so that the measuring parts can be spread over several quiet times: there are 48 tries of
both, and one took 69 s at a load of 12. Give them a WORKBENCH_HOME of their own: fixes that did not help are
remembered there and not tried again. `--zoo FOLDER` looks at trained models of other people in place of
planted ones, and measures each fix whose gain is predicted.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import workbench as wb
from benchmarks.flaws import in_arithmetic, in_configs, in_files, in_operators, in_sessions
from benchmarks.flaws.checking import Looked, exact_row, look_at, recall_row
from benchmarks.flaws.flaw import MODELS, SOUND_TEXT, Flaw, Planted
from benchmarks.flaws.measuring import gain_row, improve_row
from benchmarks.flaws.nets import images, products, texts
from benchmarks.flaws.report import report
from benchmarks.flaws.speed import speed_rows
from benchmarks.frame import keep, moment, rows_of
from benchmarks.zoo import files, name_of
from workbench.features.findings.record import FindingsRecord

FLAWS = tuple(
    flaw
    for module in (in_operators, in_files, in_configs, in_arithmetic, in_sessions)
    for flaw in module.FLAWS
)
GPU = "needs a GPU, or a second provider"
OTHER_CPU = "needs a processor without VNNI, or whose kernels keep layers with signed activations in float"
TIMES = "follows from times that other programs change; tests have it by hand"
UNPLANTED = {  # rules that no flaw shows on this machine's CPU, with the reason
    **dict.fromkeys(
        ("tensor-core-layout", "launch-bound", "copies-between-devices",
         "many-partitions", "copies-of-inputs", "convolution-search",
         "engine-built-at-each-start", "engine-without-profiles",
         "provider-loses-to-cpu", "ort-left-nodes-on-the-cpu"), GPU,
    ),
    **dict.fromkeys(
        ("saturating-int8", "int8-without-instructions", "signed-activations",
         "quantized-layers-in-float"), OTHER_CPU,
    ),
    **dict.fromkeys(
        ("pass-costs-time", "threads-past-the-knee", "spinning-while-idle", "slow-first-run",
         "far-below-its-roof"), TIMES
    ),
    "float-zero-points": "no quantizer of ONNX Runtime writes them; seen in hand-made models",
    "attention-not-fused": "the sound texts have it too: ORT fuses the attention of one kind of export",
    "arena-holds-memory": "growing inputs made it hold 1.92 to 2.00 times its peak, and 2 is the threshold",
    "prepacking-doubles-weights": "ORT frees what it packed; seen on one model only",
    "scratch-memory": "a node frees its scratch memory before ORT counts it (seen on a ConvTranspose)",
    "ort-could-not-pin-threads": "needs a container that forbids some of the cores",
    "ort-warned": "any warning that no other rule knows: none is certain to come",
}  # fmt: skip
SOUND: dict[str, Callable[[int], Planted]] = {
    "images": lambda number: Planted(images(number).model()),
    "texts": lambda number: Planted(texts(number).model(), config=SOUND_TEXT),
    "products": lambda number: Planted(products(number).model()),
}
# `gain` comes after `improve`, which would pass over a fix that `gain` measured slower.
PARTS = ("recall", "sound", "exact", "speed", "improve", "gain")
MEASURED = ("improve", "gain")
SPEED_ROWS = 3
BUDGET_S = 10.0


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.findings", description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["recall", "sound", "exact"])
    parser.add_argument("--tries", type=int, default=MODELS, help="models of each flaw, at most 3")
    parser.add_argument("--only", nargs="+", metavar="FINDING", help="ids of findings, in place of all")
    parser.add_argument("--zoo", type=Path, metavar="FOLDER", help="models as for benchmarks.zoo")
    budget_help = "seconds of each measurement (12 times to improve)"
    parser.add_argument("--budget", type=float, default=BUDGET_S, help=budget_help)
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="begin no try after this time; a second call goes on"
    )
    parser.add_argument("-o", "--output", "--file", type=Path, default=Path("findings.jsonl"))
    parser.add_argument("--report", action="store_true", help="only print the tables of an earlier run")
    options = parser.parse_args(arguments)
    until = time.monotonic() + 60 * options.minutes
    if not options.report:
        done = {(row["part"], row["name"], row["number"]) for row in rows_of(options.output)}
        with tempfile.TemporaryDirectory() as folder:
            rows = zoo_rows(options, done) if options.zoo else measure(options, done, Path(folder))
            for row in rows:
                keep(row, options.output)
                print(json.dumps(row), file=sys.stderr)
                if time.monotonic() >= until:
                    break
    print(report(rows_of(options.output)))


def measure(
    options: argparse.Namespace, done: set[tuple[str, str, int]], folder: Path
) -> Iterator[dict[str, Any]]:
    """Yield a row for each try that no earlier row stands for."""
    if "speed" in options.parts and sum(part == "speed" for part, _, _ in done) < SPEED_ROWS:
        for row in speed_rows(folder):
            if ("speed", row["name"], row["number"]) not in done:
                yield row
    flaws = [flaw for flaw in FLAWS if not options.only or flaw.finding in options.only]
    for number in range(min(options.tries, MODELS)):
        for flaw in flaws:
            wanted = [
                part
                for part in PARTS
                if part in options.parts and part not in ("sound", "speed")
                and (part, flaw.kind, number) not in done and (flaw.is_timed or part not in MEASURED)
            ]  # fmt: skip
            if wanted:
                with left_out(f"{flaw.kind} {number}"):
                    yield from _rows_of_flaw(flaw, number, wanted, folder, options.budget)
        for name, make in SOUND.items():
            if "sound" in options.parts and ("sound", name, number) not in done and not options.only:
                looked = look_at(make(number), folder / "sound.onnx")
                yield {"part": "sound", "name": name, "number": number, **_findings(looked.record)}


def zoo_rows(options: argparse.Namespace, done: set[tuple[str, str, int]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each fix of a trained model whose gain is predicted, then one for all its findings."""
    for path in files(options.zoo):
        model = name_of(path)
        if ("zoo", model, 0) in done:
            continue
        with left_out(model):
            found = wb.findings(path, on_step=lambda _: None)
            for finding in found:
                name = f"{model}: {finding.id}"
                wanted = not finding.record.is_small and (not options.only or finding.id in options.only)
                if wanted and ("gain", name, 0) not in done:
                    with left_out(name):
                        if (row := gain_row(finding, options.budget)) is not None:
                            yield {"part": "gain", "name": name, "number": 0, **row, **moment()}
            yield {"part": "zoo", "name": model, "number": 0, **_findings(found.record)}


@contextmanager
def left_out(what: str) -> Iterator[None]:
    """Print what failed and go on: one try must not end a long run, and a second call makes it again."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever a try meets, the others count
        print(f"{what} is left out: {type(error).__name__}: {error}", file=sys.stderr)


def _rows_of_flaw(
    flaw: Flaw, number: int, parts: list[str], folder: Path, budget_s: float
) -> Iterator[dict[str, Any]]:
    looked = look_at(flaw.plant(number), folder / "planted.onnx")
    for part in parts:
        with left_out(f"{part} of {flaw.kind} {number}"):
            began = time.monotonic()
            row = row_of(part, flaw, looked, folder, budget_s)
            if row is None:
                continue
            if part in MEASURED:
                row |= {"budget_s": budget_s, "elapsed_s": time.monotonic() - began, **moment()}
            yield {"part": part, "name": flaw.kind, "finding": flaw.finding, "number": number, **row}


def row_of(part: str, flaw: Flaw, looked: Looked, folder: Path, budget_s: float) -> dict[str, Any] | None:
    """Return what one part says of a planted model; None if it does not apply."""
    finding = looked.finding(flaw.finding)
    if part == "recall":
        return recall_row(flaw, looked)
    if part == "improve":
        return improve_row(looked, folder, budget_s)
    if finding is None:
        return None
    return exact_row(finding, looked) if part == "exact" else gain_row(looked.to_try(finding), budget_s)


def _findings(record: FindingsRecord) -> dict[str, Any]:
    return {
        level: [finding.id for finding in record.large if finding.confidence == level]
        for level in ("sure", "likely", "maybe")
    }


if __name__ == "__main__":
    main()
