"""`workbench measure`: one config of a model."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from workbench.cli.checks import of_measurement
from workbench.cli.subject import add_calibration, add_subject, shows_progress, subject_of
from workbench.cli.summaries import add_options, finish

if TYPE_CHECKING:
    from workbench.cli.commands import Commands
    from workbench.results.measurement import Measurement


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    measure = commands.add_parser(
        "measure",
        help="measure one config of a model",
        epilog="Example: workbench measure bert-base --a level=all --percentile 99 --until settled",
    )
    add_subject(measure)
    measure.add_argument("--npz", metavar="FILE", help="your own inputs, an array for each input's name")
    add_calibration(measure)
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
    measure.add_argument("--budget", type=float, metavar="S", help="seconds that it may take")
    measure.add_argument("--pacing", type=float, metavar="S", help="pause before each run; default: none")
    measure.add_argument("--no-history", action="store_true", help="do not keep it in the history")
    measure.add_argument("--json", action="store_true", help="print JSON, with every sample, instead of text")
    measure.add_argument("--quiet", action="store_true", help="no progress bar")
    add_options(measure)
    measure.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure the config and print its figures."""
    from workbench.api.measuring import PERCENTILES, measure
    from workbench.cli.showing import table
    from workbench.text import printable

    model, config, inputs = subject_of(arguments)
    result = measure(
        model,
        config,
        percentiles=arguments.percentile or PERCENTILES,
        until=arguments.until,
        inputs=inputs,
        calibration=arguments.calibration,
        budget_s=arguments.budget,
        pacing_s=arguments.pacing,
        seed=arguments.seed,
        progress=shows_progress(arguments),
        keep=not arguments.no_history,
    )
    if arguments.json:
        print(json.dumps(to_json(result)))
    else:
        print(printable(str(result), keep="\n"))
        print(table(result.to_frame()))
    return finish(arguments, result, of_measurement(result.record))


def to_json(result: Measurement) -> dict[str, Any]:
    """Return the figures with all their data."""
    from workbench.cli.comparing import record_to_json

    figures = result.to_frame()
    rows = figures.astype(object).where(figures.notna(), None).to_dict("records")
    return {
        **record_to_json(result.record.measured),
        "figures": rows,
        "settled": not result.record.unsettled,
    }
