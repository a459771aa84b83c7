"""`workbench check`: a gate for continuous integration, a new model file against the old one or a bundle."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import workbench as wb
from workbench.apps.cli.commands import Commands, add, add_command, percent
from workbench.apps.cli.subject import common, read_inputs, save
from workbench.apps.cli.summaries import RESULTS, junit, markdown
from workbench.core.errors import InputError, StorageError
from workbench.core.measure.gates import FINE, OPEN, WORSE, Gate, was_measured

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement
    from workbench.core.bundle.run import Run
    from workbench.core.config import Config

_EXAMPLE = "workbench check new.onnx --against old.onnx --max-slower 3% --junit check.xml"
_BUDGET_S = 60.0
AT_ANOTHER_TIME = "measured at different times, so a change of the machine counts too"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "end with an exit code other than 0 if a new model file is slower or computes something else"
    check = add_command(commands, "check", run, text, _EXAMPLE)
    add(check, "model", help="the new model: a path, a sample's name, a URL or hf://org/repo/file.onnx")
    check.add_argument(
        "--against", required=True, metavar="MODEL|BUNDLE", help="the old model, or a bundle of this machine"
    )
    check.add_argument("--max-slower", type=percent, default=0.03, metavar="SHARE", help="default 3%%")
    check.add_argument(
        "--max-error",
        type=percent,
        metavar="SHARE",
        help="of each output, over its largest magnitude; default: what the arithmetic of the files allows",
    )
    add(check, "--a", help="a setting of both; may be repeated")
    add(check, "--budget", default=_BUDGET_S, help="default 60")
    add(check, "--output", help="save the measurement as a bundle (.ortbench)")
    add(check, "--dim", "--npz", "--calibration", "--seed", "--quiet", "--allow-fallback")
    check.add_argument("--junit", metavar="FILE", type=Path, help="write the checks as JUnit XML")
    check.add_argument("--markdown", metavar="FILE", type=Path, help="write a summary in Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print each check with its reason, and return the exit code."""
    for file in filter(None, (arguments.markdown, arguments.junit)):
        is_new = not file.exists()
        _write(file, b"", "ab")  # one that cannot be written is refused before the minute of measuring
        if is_new:
            file.resolve().unlink()  # an empty file would say more than is known
    against_bundle = arguments.against.endswith(".ortbench")
    result, checks = (compare_with_bundle if against_bundle else compare_with_model)(arguments)
    for check in checks:
        print(f"{check.name}: {RESULTS[check.code]}, {check.text}")
    code = save(result, arguments, checks)
    measured = getattr(result.record, "measured", result.record)
    if arguments.markdown is not None:
        _write(arguments.markdown, markdown(measured, checks).encode("utf-8"))
    if arguments.junit is not None:
        _write(arguments.junit, junit(measured, checks))
    return code


def _write(file: Path, text: bytes, mode: Literal["ab", "wb"] = "wb") -> None:
    try:
        with file.open(mode) as opened:
            opened.write(text)
    except OSError as error:
        problem = f"{str(file)!r} cannot be written: {error.strerror or error}"
        raise StorageError(problem, "give a file in a folder that you may write to") from error


def compare_with_model(arguments: argparse.Namespace) -> tuple[Any, list[Gate]]:
    """Measure both models side by side; return the comparison and its checks."""
    from workbench.core.config import Config
    from workbench.core.models import load

    config = Config.from_assignments(arguments.a or [])
    old, new = load(arguments.against), load(arguments.model)
    tolerance = {} if arguments.max_error is None else {"tolerance": arguments.max_error}
    result = wb.compare(
        (old, config),
        (new, config),
        inputs=read_inputs(arguments, old),
        smallest_effect=arguments.max_slower / 2,  # a tie is a difference of less than twice that
        **tolerance,
        **common(arguments),
    )
    record = result.record
    if not all(was_measured(record, run.label) for run in record.runs):
        problems = [run.failure.problem for run in record.runs if run.failure is not None]
        reason = "; ".join(problems) or "a provider fell back to another one"
        return result, [Gate("speed", OPEN, f"not measured: {reason}")]
    verdict = record.verdict
    speed = speed_check(verdict.low, verdict.high, arguments.max_slower, verdict.reason)
    return result, [speed, error_check(record, arguments.max_error)]


def compare_with_bundle(arguments: argparse.Namespace) -> tuple[Any, list[Gate]]:
    """Measure the model beside what a bundle holds; return the measurement and its checks."""
    from workbench.core.measure.apart import interval_apart
    from workbench.core.measure.continuing import check_same_machine, check_same_software
    from workbench.core.models import load

    if arguments.max_error is not None:
        raise InputError(
            "--max-error was given with a bundle, which holds no outputs",
            "name the old model: --against OLD.onnx",
        )
    if arguments.a:
        raise InputError("--a was given with a bundle", "the config is that of the bundle: leave out --a")
    old, config = _run_of(wb.open(arguments.against).record, arguments.against)
    model = load(arguments.model)
    inputs = read_inputs(arguments, model)
    result = wb.measure(model, config, inputs=inputs, **common(arguments))
    record = result.record.measured
    check_same_machine(old.machine, record.machine)
    check_same_software(old.versions, record.versions)
    if (before := old.inputs.shapes) != (after := record.inputs.shapes):
        raise InputError(f"the bundle was measured with inputs {before}, now they are {after}", "give --dim")
    estimate = interval_apart(old.runs[0], record.runs[0])
    low = None if estimate is None else math.exp(estimate.low)
    high = None if estimate is None else math.exp(estimate.high)
    speed = speed_check(low, high, arguments.max_slower, AT_ANOTHER_TIME)
    if not was_measured(record, "A"):
        speed = Gate("speed", OPEN, "not measured: it failed, or a provider fell back to another one")
    return result, [speed]


def _run_of(record: Any, name: str) -> tuple[ComparisonRecord, Config]:
    """Return the measurement that a bundle holds, and the config of its first run."""
    from workbench.features.base.folder import measured_record

    measured = measured_record(record)
    runs: tuple[Run, ...] = getattr(measured, "runs", ())
    if measured is None or not runs:
        raise InputError(f"{name} holds no measurement", "name what `measure -o` or `compare -o` wrote")
    return measured, runs[0].config


def speed_check(low: float | None, high: float | None, max_slower: float, reason: str) -> Gate:
    """Return the check of an interval of old time over new time against a slow-down."""
    least, most = (None if end is None else 1 / end - 1 for end in (high, low))
    if least is not None and most is not None:
        longer = f"{least:+.1%} to {most:+.1%}"
    elif least is not None:  # of a large effect one end is known
        longer = f"at least {least:+.1%}"
    elif most is not None:
        longer = f"at most {most:+.1%}"
    else:
        return Gate("speed", OPEN, f"no interval: {reason}")
    worse, fine = least is not None and least > max_slower, most is not None and most <= max_slower
    text = f"it takes {longer} longer, {max_slower:.1%} are allowed; {reason}"
    return Gate("speed", WORSE if worse else FINE if fine else OPEN, text)


def error_check(record: ComparisonRecord, max_error: float | None) -> Gate:
    """Return the check of the outputs; one that could not be compared leaves it open."""
    rows = [row for row in record.agreement if row.label == record.verdict.label]
    errors = [error for row in rows for error in (row.relative_error, row.part_error) if error is not None]
    differing = next((row for row in rows if row.agrees is False and not _is_within(row, max_error)), None)
    if differing is not None:
        return Gate("outputs", WORSE, f"{differing.output}: {differing.reason}")
    if unknown := next((row for row in rows if row.agrees is None), None):
        return Gate("outputs", OPEN, f"{unknown.output}: {unknown.reason}")
    if not rows:
        return Gate("outputs", OPEN, "they were not compared")
    worst = max(errors, default=0.0)
    if max_error is not None and worst > max_error:
        return Gate("outputs", WORSE, f"an error of {worst:.2g}, {max_error:g} is allowed")
    return Gate("outputs", FINE, f"the largest error is {worst:.2g}")


def _is_within(row: OutputAgreement, max_error: float | None) -> bool:
    """Return whether the user allows this error, whatever the arithmetic of the files asks for."""
    errors = [error for error in (row.relative_error, row.part_error) if error is not None]
    return max_error is not None and row.relative_error is not None and max(errors) <= max_error
