"""`workbench export`: a saved result as a folder of tables, configs, scripts and a picture."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli.showing import SOURCE, opened

if TYPE_CHECKING:
    from workbench.cli.commands import Commands


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    export = commands.add_parser("export", help="write a saved result as tables, configs, scripts, a picture")
    export.add_argument("source", help=SOURCE)
    export.add_argument("folder", help="a new or empty folder")
    formats = export.add_mutually_exclusive_group()
    titles = {"csv": "CSV, the default", "json": "JSON", "parquet": "Parquet, which needs pyarrow"}
    for name, title in titles.items():
        text = f"tables as {title}"
        formats.add_argument(f"--{name}", dest="tables", action="store_const", const=name, help=text)
    export.set_defaults(run=run, tables="csv")


def run(arguments: argparse.Namespace) -> int:
    """Write the folder and print its path."""
    print(opened(arguments.source).export(arguments.folder, arguments.tables))
    return 0
