"""`workbench decode`: a language model run token by token."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli.checks import of_decoding
from workbench.cli.comparing import add_candidates, read_candidates
from workbench.cli.showing import print_sentences
from workbench.cli.subject import add_calibration, add_subject, read_inputs, shows_progress
from workbench.cli.summaries import add_options, finish

if TYPE_CHECKING:
    from workbench.cli.commands import Commands

EXAMPLE = "workbench decode llama-small --b io_binding=true --prompt 128 --tokens 64"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    command = commands.add_parser(
        "decode", help="run a language model token by token", epilog=f"Example: {EXAMPLE}"
    )
    add_subject(command)
    add_candidates(command)
    command.add_argument("--prompt", type=int, default=128, metavar="N", help="tokens of prompt; default 128")
    command.add_argument("--tokens", type=int, default=64, metavar="N", help="tokens to make; default 64")
    command.add_argument("--budget", type=float, default=60.0, metavar="S", help="seconds that it may take")
    command.add_argument("--npz", metavar="FILE", help="your own inputs beside the tokens")
    add_calibration(command)
    command.add_argument("--csv", action="store_true", help="print the table as CSV instead of text")
    command.add_argument("--no-history", action="store_true", help="do not keep it in the history")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    add_options(command, judges=True)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Decode, print the sentences or the table, and save."""
    from workbench.api.decoding import decode
    from workbench.models import load

    model = load(arguments.model)
    result = decode(
        model,
        *read_candidates(arguments),
        prompt=arguments.prompt,
        tokens=arguments.tokens,
        budget_s=arguments.budget,
        inputs=read_inputs(arguments, model) if arguments.npz or arguments.dim else None,
        calibration=arguments.calibration,
        seed=arguments.seed,
        progress=shows_progress(arguments),
        keep=not arguments.no_history,
    )
    print_sentences(result, result.to_frame(), as_csv=arguments.csv)
    return finish(arguments, result, of_decoding(result.record, arguments.fail_if))
