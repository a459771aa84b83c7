"""What the common options of a command mean: inputs, how to measure, the file to write."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from workbench.core.errors import InputError
from workbench.core.measure.gates import Gate, exit_code
from workbench.core.text import path_text


def shows_progress(is_quiet: bool) -> bool:
    """Return whether a progress bar is wanted: only on a terminal."""
    return sys.stderr.isatty() and not is_quiet


def common(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of a public function that the common options of a command give."""
    given = vars(arguments)
    options: dict[str, Any] = {
        "seed": arguments.seed,
        "budget_s": arguments.budget,
        "progress": shows_progress(arguments.quiet),
        "keep": not given.get("no_history", True),
    }
    if given.get("calibration"):
        options["calibration"] = arguments.calibration
    if given.get("allow_fallback"):
        options["allow_fallback"] = True
    return options


def read_inputs(arguments: argparse.Namespace, model: Any) -> Any:
    """Return the file of inputs that was named, or random inputs of the sizes that were given."""
    from workbench.core.models import load

    if arguments.npz and arguments.dim:
        raise InputError(
            "--npz and --dim were both given", "sizes follow from the arrays in the file: leave out --dim"
        )
    return arguments.npz or load(model).inputs(seed=arguments.seed, dims=read_dims(arguments.dim))


def read_dims(texts: list[str]) -> dict[str, int]:
    """Return sizes by the name of a symbolic axis."""
    dims: dict[str, int] = {}
    for text in texts:
        name, equals, size = text.rpartition("=")
        if not equals or not name or not (size.isascii() and size.isdecimal()):
            raise InputError(
                f"--dim {text!r} is not NAME=N", "write the axis and a whole number: --dim batch=8"
            )
        if dims.setdefault(name, int(size)) != int(size):
            raise InputError(
                f"--dim {name!r} is given twice", "give one size; `workbench sweep` takes several"
            )
    return dims


def read_pairs(texts: list[str]) -> dict[str, str]:
    """Return the new names by the old ones."""
    pairs: dict[str, str] = {}
    for text in texts:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise InputError(f"{text!r} is not OLD=NEW", "write both names: 339=logits")
        if pairs.setdefault(old, new) != new:
            raise InputError(f"{old!r} is given twice", "give it one new name")
    return pairs


def save(result: Any, arguments: argparse.Namespace, checks: Iterable[Gate] = ()) -> int:
    """Save the result if a file was named; return the exit code of its checks."""
    if arguments.output:
        print(f"saved {path_text(result.save(arguments.output))}", file=sys.stderr)
    return exit_code(checks)
