"""`workbench schema`: the JSON schema of what a bundle holds."""

from __future__ import annotations

import argparse

from workbench.apps.cli.commands import Commands, add_command
from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, quoted


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "print the JSON schema of a kind of result, as a bundle holds it"
    schema = add_command(commands, "schema", run, text, "workbench schema comparison > comparison.json")
    schema.add_argument("kind", nargs="?", help="a kind of result, or manifest; without it: list them all")


def run(arguments: argparse.Namespace) -> int:
    """Print the schema, or the names of the kinds."""
    from workbench.core.bundle.json_schema import MANIFEST, as_text, schema_of
    from workbench.features.base.registry import KINDS

    kind, known = arguments.kind, (MANIFEST, *KINDS.names)
    if kind is None:
        print("\n".join(known))
    elif kind in known:
        print(as_text(schema_of(kind, KINDS)), end="")
    else:
        fix = f"{did_you_mean(kind, known)}Give one of {', '.join(known)}"
        raise ConfigError(f"{quoted(kind)} is no kind of result", fix)
    return 0
