"""`workbench deploy`: a folder that serves one config in production."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workbench.cli.comparing import read_dims

if TYPE_CHECKING:
    from workbench.cli.commands import Commands

DIFFERS = 1  # the exit code when the server's outputs are not those measured


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    deploy = commands.add_parser(
        "deploy",
        help="write a server of one config: Python, or a model repository of Triton",
        epilog="Example: workbench deploy bert-base --a precision=dynamic_int8 -o bert-server --check",
    )
    deploy.add_argument("model", help="a sample's name, a path, a URL or hf://org/repo/file.onnx")
    deploy.add_argument(
        "-o", "--output", metavar="FOLDER", required=True, help="a folder that does not exist"
    )
    deploy.add_argument("--a", action="append", metavar="KEY=VALUE", help="a setting; may be repeated")
    deploy.add_argument("--kind", choices=("python", "triton"), default="python")
    deploy.add_argument("--name", help="of the model in the server's addresses; default: that of the model")
    deploy.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N", help="size of a symbolic axis"
    )
    deploy.add_argument("--seed", type=int, default=0, help="seed of the example inputs")
    deploy.add_argument("--fallback", action="store_true", help="start without a provider that is missing")
    deploy.add_argument("--concurrency", type=int, default=1, metavar="N", help="runs at once")
    deploy.add_argument("--max-batch", type=int, default=8, metavar="N", help="most rows of one run")
    deploy.add_argument("--max-wait", type=float, default=0.0, metavar="S", help="wait for other requests")
    deploy.add_argument("--check", action="store_true", help="start it, compare outputs and latency")
    deploy.add_argument("--quiet", action="store_true", help="no progress bar")
    deploy.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the deployment, check it if asked, and print both."""
    from workbench.api.deploying import deploy
    from workbench.config import Config
    from workbench.models import load
    from workbench.models.generate import random_inputs

    model = load(arguments.model)
    dims = read_dims(arguments.dim)
    inputs = random_inputs(model.structure, model.name, arguments.seed, dims, model.usual_dims)
    result = deploy(
        model,
        Config.from_assignments(arguments.a or []),
        arguments.output,
        arguments.kind,
        name=arguments.name,
        inputs=inputs,
        fallback=arguments.fallback,
        concurrency=arguments.concurrency,
        max_batch=arguments.max_batch,
        max_wait_s=arguments.max_wait,
    )
    if arguments.check:
        result = result.check(progress=sys.stderr.isatty() and not arguments.quiet)
    print(result)
    check = result.record.check
    return DIFFERS if check is not None and not check.agrees else 0
