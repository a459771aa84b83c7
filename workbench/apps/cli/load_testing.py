"""`workbench load-test`: several callers at once, throughput against p99."""

from __future__ import annotations

import argparse

from workbench.apps.cli.checks import of_load_test
from workbench.apps.cli.commands import Commands, add, add_command, add_subject
from workbench.apps.cli.comparing import add_candidates, read_candidates
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import common, save, subject_of

_EXAMPLE = (
    "workbench load-test bert-base --a intra_op_threads=4 --b intra_op_threads=1 --sessions 1 --sessions 4"
)


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    command = add_command(commands, "load-test", run, "measure several callers at once", _EXAMPLE)
    add_subject(command)
    add_candidates(command)
    command.add_argument(
        "--callers", type=numbers, default=(1, 2, 4, 8), metavar="N,N", help="default 1,2,4,8"
    )
    command.add_argument(
        "--sessions",
        action="append",
        metavar="N[+threads][+arena]|processes",
        help="sessions that the callers share, and what the sessions share, or a process for each caller; "
        "may be repeated; default 1",
    )
    command.add_argument(
        "--rate", type=rates, metavar="HZ,HZ", help="requests that arrive a second; default: back to back"
    )
    command.add_argument("--duration", type=float, default=2.0, metavar="S", help="of each point; default 2")
    add(command, "--max-p99", help="a budget: the result says at which load p99 passes it")
    add(command, "--npz", "--calibration", "--csv", "--no-history", "--quiet", "--allow-fallback")
    add(command, "--fail-if")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the sentences or the table, and save."""
    from workbench.features.load.call import load_test
    from workbench.features.load.result import LoadTest

    model, _, inputs = subject_of(arguments)
    result = load_test(
        model,
        *read_candidates(arguments),
        callers=arguments.callers,
        sessions=arguments.sessions or 1,
        rate_hz=arguments.rate,
        duration_s=arguments.duration,
        max_p99_s=None if arguments.max_p99 is None else arguments.max_p99 / 1e3,
        inputs=inputs,
        seed=arguments.seed,
        **common(arguments),
    )
    print_sentences(arguments, result)
    assert isinstance(result, LoadTest)  # the command takes no deployment
    return save(result, arguments, of_load_test(result.record, arguments.fail_if))


def numbers(text: str) -> tuple[int, ...]:
    """Return the whole numbers of a text such as 1,2,4."""
    return tuple(int(part) for part in text.split(","))


def rates(text: str) -> tuple[float, ...]:
    """Return the numbers of a text such as 50,100."""
    return tuple(float(part) for part in text.split(","))
