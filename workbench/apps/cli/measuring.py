"""`workbench measure`: one config of a model."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from workbench.apps.cli.checks import of_measurement
from workbench.apps.cli.commands import Commands, add, add_command, add_subject
from workbench.apps.cli.subject import common, save, subject_of

if TYPE_CHECKING:
    from workbench.features.measure import Measurement

_EXAMPLE = "workbench measure bert-base --a level=all --percentile 99 --until settled"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    measure = add_command(commands, "measure", run, "measure one config of a model", _EXAMPLE)
    add_subject(measure)
    measure.add_argument(
        "--percentile",
        action="append",
        type=float,
        metavar="P",
        help="a percentile of the latency, may be repeated; default 50, 90, 95, 99",
    )
    measure.add_argument(
        "--until", choices=["settled"], help="go on until the percentiles are known, within the budget"
    )
    add(measure, "--npz", "--calibration", "--budget", "--pacing", "--no-history", "--json", "--quiet")
    add(measure, "--allow-fallback")


def run(arguments: argparse.Namespace) -> int:
    """Measure the config and print its figures."""
    from workbench.apps.cli.showing import table
    from workbench.features.measure import PERCENTILES, measure

    model, config, inputs = subject_of(arguments)
    result = measure(
        model,
        config,
        percentiles=arguments.percentile or PERCENTILES,
        until=arguments.until,
        inputs=inputs,
        seed=arguments.seed,
        **common(arguments),
    )
    if arguments.json:
        print(json.dumps(to_json(result)))
    else:
        print(result)
        print(table(result.to_frame()))
    return save(result, arguments, of_measurement(result.record))


def to_json(result: Measurement) -> dict[str, Any]:
    """Return the figures with all their data."""
    from workbench.apps.cli.comparing import record_to_json

    figures = result.to_frame()
    rows = figures.astype(object).where(figures.notna(), None).to_dict("records")
    return {
        **record_to_json(result.record.measured),
        "figures": rows,
        "settled": not result.record.unsettled,
    }
