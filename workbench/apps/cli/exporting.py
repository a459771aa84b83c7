"""`workbench export` and `report`: a saved result as a folder of plain files, or as one HTML page."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from workbench.apps.cli.commands import Commands, add, add_command
from workbench.apps.cli.showing import opened


def add_to(commands: Commands) -> None:
    """Add both commands and their options."""
    text = "write a saved result as an HTML page that opens offline"
    report = add_command(commands, "report", run_report, text)
    add(report, "source")
    report.add_argument("-o", "--output", required=True, type=Path, help="the .html file to write")
    report.add_argument("--open", action="store_true", help="show it in the browser")

    text = "write a saved result as tables, configs, scripts, a picture"
    export = add_command(commands, "export", run_export, text)
    add(export, "source")
    export.add_argument("folder", help="a new or empty folder")


def run_report(arguments: argparse.Namespace) -> int:
    """Write the page and print its path."""
    path = opened(arguments.source).export_html(arguments.output)
    print(path)
    if arguments.open:
        webbrowser.open(path.as_uri())
    return 0


def run_export(arguments: argparse.Namespace) -> int:
    """Write the folder and print its path."""
    print(opened(arguments.source).export(arguments.folder))
    return 0
