"""`workbench deploy`: a folder that serves one config in production."""

from __future__ import annotations

import argparse

from workbench.apps.cli.checks import of_deployment
from workbench.apps.cli.commands import Commands, add, add_command, add_subject
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import save, shows_progress, subject_of

_EXAMPLE = "workbench deploy bert-base bert-server --a precision=dynamic_int8 --check"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "write a server of one config: Python, or a model repository of Triton"
    deploy = add_command(commands, "deploy", run, text, _EXAMPLE)
    add_subject(deploy)
    deploy.add_argument("folder", help="the folder to write, which does not exist yet")
    add(deploy, "--calibration", "--quiet", "--csv")
    deploy.add_argument("--kind", choices=("python", "triton"), default="python")
    deploy.add_argument("--name", help="of the model in the server's addresses; default: that of the model")
    deploy.add_argument("--fallback", action="store_true", help="start without a provider that is missing")
    text = "ORT_INTRA_OP_NUM_THREADS sets the threads; the config's are the default"
    deploy.add_argument("--threads-from-environment", action="store_true", help=text)
    deploy.add_argument("--concurrency", type=int, default=1, metavar="N", help="runs at once")
    deploy.add_argument("--check", action="store_true", help="start it, compare outputs and latency")


def run(arguments: argparse.Namespace) -> int:
    """Write the deployment, check it if asked, and print both."""
    from workbench.features.deploy.result import deploy

    model, config, inputs = subject_of(arguments)
    result = deploy(
        model,
        config,
        arguments.folder,
        arguments.kind,
        name=arguments.name,
        inputs=inputs,
        calibration=arguments.calibration,
        fallback=arguments.fallback,
        threads_from_environment=arguments.threads_from_environment,
        concurrency=arguments.concurrency,
    )
    if arguments.check:
        result = result.check(progress=shows_progress(arguments))
    print_sentences(arguments, result)
    return save(result, arguments, of_deployment(result.record))
