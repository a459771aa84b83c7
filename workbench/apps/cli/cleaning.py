"""`workbench clean`: list the files kept on disk, and remove them."""

from __future__ import annotations

import argparse

import workbench as wb
from workbench.apps.cli.commands import Commands, add_command
from workbench.core.text import bytes_text

ALL = "all"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    clean = add_command(commands, "clean", run, "list what the workbench keeps on disk, and remove it")
    clean.add_argument(
        "name",
        nargs="*",
        help=f"what to remove, or {ALL!r} for everything that can be made again; without it: only list",
    )
    clean.add_argument(
        "--older-than", type=float, default=0.0, metavar="DAYS", help="only what was not used for so long"
    )


def run(arguments: argparse.Namespace) -> int:
    """List the files, or remove them and print the freed space."""
    kept = wb.storage()
    if not arguments.name:
        print(kept)
        return 0
    names = [] if ALL in arguments.name else arguments.name
    freed = kept.remove(*names, older_than_days=arguments.older_than)
    print(f"{bytes_text(max(0, freed))} removed")
    return 0
