"""`workbench decode`: a language model run token by token."""

from __future__ import annotations

import argparse

from workbench.apps.cli.checks import of_decoding
from workbench.apps.cli.commands import Commands, add, add_command, add_subject
from workbench.apps.cli.comparing import add_candidates, read_candidates
from workbench.apps.cli.load_testing import numbers
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import common, read_inputs, save

_EXAMPLE = "workbench decode llama-small --b io_binding=true --prompt 128 --tokens 64"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    command = add_command(commands, "decode", run, "run a language model token by token", _EXAMPLE)
    add_subject(command)
    add_candidates(command)
    command.add_argument(
        "--prompt", type=int, metavar="N", help="of the prompt; default 128, or as many as fit"
    )
    command.add_argument("--tokens", type=int, metavar="N", help="to make; default 64, or as many as fit")
    command.add_argument(
        "--batch", type=numbers, default=(1,), metavar="N,…", help="prompts that run together"
    )
    command.add_argument(
        "--prompt-lengths", type=numbers, default=(), metavar="N,…", help="several in place of --prompt"
    )
    add(command, "--budget", default=60.0)
    add(command, "--npz", help="your own inputs beside the tokens")
    add(command, "--calibration", "--csv", "--no-history", "--quiet", "--allow-fallback", "--fail-if")


def run(arguments: argparse.Namespace) -> int:
    """Decode, print the sentences or the table, and save."""
    from workbench.core.models import load
    from workbench.features.decode.call import decode

    model = load(arguments.model)
    result = decode(
        model,
        *read_candidates(arguments),
        prompt=arguments.prompt,
        tokens=arguments.tokens,
        batch=arguments.batch,
        prompt_lengths=arguments.prompt_lengths,
        inputs=read_inputs(arguments, model) if arguments.npz or arguments.dim else None,
        seed=arguments.seed,
        **common(arguments),
    )
    print_sentences(arguments, result)
    return save(result, arguments, of_decoding(result.record, arguments.fail_if))
