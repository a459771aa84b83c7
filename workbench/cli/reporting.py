"""`workbench report`: a saved result as one HTML file that opens offline."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.showing import SOURCE, opened

if TYPE_CHECKING:
    from workbench.cli.commands import Commands


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    report = commands.add_parser("report", help="write a saved result as an HTML page that opens offline")
    report.add_argument("source", help=SOURCE)
    report.add_argument("-o", "--output", required=True, type=Path, help="the .html file to write")
    report.add_argument("--open", action="store_true", help="show it in the browser")
    report.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the page and print its path."""
    path = opened(arguments.source).export_html(arguments.output)
    print(path)
    if arguments.open:
        webbrowser.open(path.as_uri())
    return 0
