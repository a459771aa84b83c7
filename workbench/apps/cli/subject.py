"""What the common options of a command mean: model, config, inputs, how to measure, the file to write."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench.core.errors import InputError
from workbench.core.measure.gates import Gate, exit_code
from workbench.core.text import path_text

if TYPE_CHECKING:
    from workbench.core.config import Config
    from workbench.core.models import Model


def subject_of(arguments: argparse.Namespace) -> tuple[Model, Config, Any]:
    """Return the model, the config, and the inputs as `wb.compare` takes them."""
    from workbench.core.measure.compare_request import check_seed

    check_seed(arguments.seed)
    model, config = model_and_config(arguments)
    return model, config, read_inputs(arguments, model)


def model_and_config(arguments: argparse.Namespace) -> tuple[Model, Config]:
    """Return the model and the config of a command that runs nothing on inputs."""
    from workbench.core.config import Config
    from workbench.core.models import load

    return load(arguments.model), Config.from_assignments(arguments.a or [])


def shows_progress(arguments: argparse.Namespace) -> bool:
    """Return whether a progress bar is wanted: only on a terminal."""
    return sys.stderr.isatty() and not arguments.quiet


def common(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of a public function that the common options of a command give."""
    given = vars(arguments)
    keywords = {"calibration": "calibration", "budget": "budget_s", "pacing": "pacing_s"}
    options = {keyword: given[name] for name, keyword in keywords.items() if name in given}
    if given.get("allow_fallback"):
        options["allow_fallback"] = True
    if "quiet" in given:
        options["progress"] = shows_progress(arguments)
    if "no_history" in given:
        options["keep"] = not arguments.no_history
    return options


def read_inputs(arguments: argparse.Namespace, model: Model) -> Any:
    """Return the file of inputs that was named, or random inputs of the sizes that were given."""
    file = getattr(arguments, "npz", None)
    if file and arguments.dim:
        raise InputError(
            "--npz and --dim were both given", "sizes follow from the arrays in the file: leave out --dim"
        )
    return file or model.inputs(seed=arguments.seed, dims=read_dims(arguments.dim))


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


def save(result: Any, arguments: argparse.Namespace, checks: Iterable[Gate] = ()) -> int:
    """Save the result if a file was named; return the exit code of its checks."""
    if arguments.output:
        print(f"saved {path_text(result.save(arguments.output))}", file=sys.stderr)
    return exit_code(checks)
