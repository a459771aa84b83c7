"""The commands that measure nothing: `show`, `history`, `samples`, `doctor`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.apps.cli.commands import Commands, add, add_command
from workbench.core.bundle.display import DataFrame
from workbench.core.errors import InputError
from workbench.core.text import shorten

_MOST_CHARACTERS = 120  # characters of a text in the history: a model's name may be a megabyte
MOST_SHOWN = 60  # rows of a table
HISTORY_COLUMNS = ["id", "created_utc", "kind", "model", "verdict", "ratio", "low", "high", "note"]


def add_to(commands: Commands) -> None:
    """Add the commands and their options."""
    add(add_command(commands, "show", run_show, "print a saved result"), "source", "--csv")
    history = add_command(commands, "history", run_history, "list the results made on this machine")
    history.add_argument("--model", help="part of the model's name, or the start of its hash")
    history.add_argument("--most", type=int, default=20, metavar="N", help="the newest N; default 20")
    history.add_argument("--folder", metavar="DIR", help="the bundles of a folder, such as a team's")
    history.add_argument("--delete", metavar="ID", help="delete an entry for good")
    add(history, "--json", help="print JSON instead of text")
    for name, run, what in (
        ("samples", run_samples, "list the models that come with the workbench"),
        ("doctor", run_doctor, "print what this machine and this ONNX Runtime can do"),
    ):
        add(add_command(commands, name, run, what), "--json", help="print JSON instead of text")


def run_show(arguments: argparse.Namespace) -> int:
    """Print a saved result as its command would, or as JSON."""
    print_result(arguments, opened(arguments.source))
    return 0


def print_result(
    arguments: argparse.Namespace,
    result: Any,
    frame: DataFrame | None = None,
    text: Callable[[Any], str] | None = None,
) -> None:
    """Print a result as the user asked: as JSON, its table (or `frame`) as CSV, or its words (or `text`)."""
    from workbench.apps.cli.as_json import to_json
    from workbench.core.bundle.display import csv_of

    if arguments.json:
        print(json.dumps(to_json(result)))
    elif getattr(arguments, "csv", False):
        print(csv_of(result.to_frame() if frame is None else frame), end="")
    else:
        print(in_words(result, frame) if text is None else text(result))


def in_words(result: Any, frame: DataFrame | None = None) -> str:
    """Return a comparison in full, and of another result its sentences and the first rows of its table."""
    from workbench.apps.cli.text import in_full
    from workbench.core.bundle.comparison import ComparisonRecord

    record = getattr(result, "record", None)
    if isinstance(record, ComparisonRecord):
        return in_full(record)
    rows = result.to_frame() if frame is None else frame
    lines = [str(result)] if rows.empty else [str(result), table(rows.head(MOST_SHOWN))]
    if len(rows) > MOST_SHOWN:
        lines.append(f"… and {len(rows) - MOST_SHOWN:,} more rows: --csv prints them all")
    return "\n".join(lines)


def opened(source: str) -> Any:
    """Open the bundle of this name, or the entry of the history if no such file exists."""
    path = Path(source)
    exists = os.path.exists(path)  # noqa: PTH110 - False for a name that no file can have
    if exists or path.suffix or path.name != source:
        return wb.open(path)
    return wb.history().open(source)


def run_history(arguments: argparse.Namespace) -> int:
    """List the history, or delete an entry."""
    from workbench.apps.cli.as_json import rows_json

    if arguments.delete:
        wb.history(arguments.folder).delete(arguments.delete)
        print(f"deleted {arguments.delete}")
        return 0
    if arguments.most < 1:
        raise InputError(f"--most {arguments.most} is no number of entries", "give 1 or more")
    most = min(arguments.most, sys.maxsize)
    frame = wb.history(arguments.folder).to_frame(model=arguments.model, most=most)[HISTORY_COLUMNS]
    if arguments.json:
        print(rows_json(frame))
    elif frame.empty:
        of_all = "nothing yet: workbench compare adds to it"
        print(of_all if arguments.model is None else f"nothing of a model {shorten(arguments.model)!r}")
    else:
        print(history_table(frame))
    return 0


def run_samples(arguments: argparse.Namespace) -> int:
    """List the samples by kind and size."""
    from workbench.apps.cli.as_json import rows_json
    from workbench.core.models.samples import samples

    if arguments.json:
        print(rows_json(samples()))
        return 0
    kind = None
    for row in samples().sort_values(["kind", "parameters"]).to_dict("records"):
        if row["kind"] != kind:
            kind = row["kind"]
            print(f"{kind}:")
        print(f"  {row['name']:<28} {row['parameters'] / 1e6:8.2f} M parameters {row['bytes'] / 1e6:9.2f} MB")
        print(textwrap.indent(textwrap.fill(str(row["teaches"]), 90), " " * 6))
    return 0


def run_doctor(arguments: argparse.Namespace) -> int:
    """Print the doctor's report: what works here, and fixes for the rest."""
    report = wb.doctor()
    print(json.dumps(asdict(report)) if arguments.json else report)
    return 0


def history_table(frame: DataFrame) -> str:
    """Return the entries as a table, with short texts and no ratio where outputs differ."""
    rows = frame.copy()
    rows.loc[rows["verdict"] == "outputs differ", ["ratio", "low", "high"]] = float("nan")
    return table(rows)


def _shortened(value: Any) -> Any:
    return shorten(value, _MOST_CHARACTERS) if isinstance(value, str) else value


def table(frame: DataFrame) -> str:
    """Return all columns, at any terminal width: absent values as a dash, texts printable."""
    present = frame.astype(object).where(frame.notna(), "-").map(_shortened).rename(columns=_shortened)
    return present.to_string(index=False, float_format=lambda value: f"{value:.3g}")
