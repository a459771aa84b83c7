"""The model, the config and the inputs that a command names, and the file that it writes."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from workbench.errors import InputError

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.models import Model


def add_subject(command: argparse.ArgumentParser) -> None:
    """Add the arguments that name a model, one config, its inputs and the output file."""
    command.add_argument("model", help="a sample's name, a path, a URL or hf://org/repo/file.onnx")
    command.add_argument("--a", action="append", metavar="KEY=VALUE", help="a setting; may be repeated")
    command.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N", help="size of a symbolic axis"
    )
    command.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    command.add_argument("-o", "--output", metavar="FILE", help="save it as a bundle (.ortbench)")


def add_calibration(command: argparse.ArgumentParser) -> None:
    """Add the option that names the calibration data of static int8."""
    command.add_argument(
        "--calibration",
        metavar="DATA",
        help="data on which static int8 measures its ranges: an .npz file, a folder of images, or random",
    )


def add_data(command: argparse.ArgumentParser) -> None:
    """Add the option that names labelled examples."""
    command.add_argument("--data", metavar="FILE", help="labelled examples (.npz) for the accuracy")


def add_accuracy(command: argparse.ArgumentParser) -> None:
    """Add the option that measures the accuracy of the configs too."""
    command.add_argument(
        "--accuracy",
        action="store_true",
        help="keep the accuracy of each config with it, for `best --max-accuracy-drop`",
    )


def subject_of(arguments: argparse.Namespace) -> tuple[Model, Config, Any]:
    """Return the model, the config, and the inputs as `wb.compare` takes them."""
    from workbench.judge.compare_request import check_seed

    check_seed(arguments.seed)
    model, config = model_and_config(arguments)
    return model, config, read_inputs(arguments, model)


def model_and_config(arguments: argparse.Namespace) -> tuple[Model, Config]:
    """Return the model and the config of a command that runs nothing on inputs."""
    from workbench.config import Config
    from workbench.models import load

    return load(arguments.model), Config.from_assignments(arguments.a or [])


def shows_progress(arguments: argparse.Namespace) -> bool:
    """Return whether a progress bar is wanted: only on a terminal."""
    return sys.stderr.isatty() and not arguments.quiet


def read_inputs(arguments: argparse.Namespace, model: Model) -> Any:
    """Return the file of inputs that was named, or random inputs of the sizes that were given."""
    from workbench.models.generate import random_inputs

    file = getattr(arguments, "npz", None)
    if file and arguments.dim:
        raise InputError(
            "--npz and --dim were both given", "sizes follow from the arrays in the file: leave out --dim"
        )
    dims = read_dims(arguments.dim)
    # Not model.inputs(**dims): an axis can have the name "seed" or "source".
    return file or random_inputs(model.structure, model.name, arguments.seed, dims, model.usual_dims)


def read_dims(texts: list[str]) -> dict[str, int]:
    """Return sizes by the name of a symbolic axis."""
    dims = {}
    for text in texts:
        name, equals, size = text.rpartition("=")
        if not equals or not name or not (size.isascii() and size.isdecimal()):
            raise InputError(
                f"--dim {text!r} is not NAME=N", "write the axis and a whole number: --dim batch=8"
            )
        dims[name] = int(size)
    return dims


def save(result: Any, arguments: argparse.Namespace) -> int:
    """Save the result if a file was named; return the exit code."""
    from workbench.text import path_text

    if arguments.output:
        print(f"saved {path_text(result.save(arguments.output))}", file=sys.stderr)
    return 0
