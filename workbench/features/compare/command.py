"""What `workbench compare` calls: configs or model files, or a saved comparison that goes on."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from typing import Any

from workbench.core.config import Config
from workbench.core.errors import ConfigError, InputError
from workbench.core.models import Inputs, load
from workbench.core.models.samples import sample_names
from workbench.features.compare import call
from workbench.features.compare.result import Comparison


def compare(
    model: Any = None,
    *subjects: Config | tuple[Any, Config],
    more: str | None = None,
    rename_output: Mapping[str, str] | None = None,
    ignore_outputs: bool = False,
    **options: Any,
) -> Comparison:
    """Compare, or go on with the saved comparison `more`."""
    if ignore_outputs and rename_output:
        raise InputError("--ignore-outputs and --rename-output were both given", "give one of them")
    options["outputs"] = "ignore" if ignore_outputs else rename_output
    if more is not None:
        return _go_on(more, model, subjects, options)
    if model is None:
        raise InputError("no model was given", "name one: workbench compare MODEL --b level=all")
    if len(subjects) < 2 and not isinstance(model, tuple):
        example = f"workbench compare {shlex.quote(model)} --b intra_op_threads=1"
        raise ConfigError("only one config was given, so there is nothing to compare", f"add one: {example}")
    return call.compare(model, *subjects, **options)


def _changed(model: Any, options: Mapping[str, Any]) -> list[str]:
    """Return the options that a comparison which goes on keeps as they were."""
    taken = inspect.signature(call.compare).parameters
    anew = {"outputs", "inputs", "budget_s", "calibration", "progress", "keep"}
    others = {name for name, value in options.items() if name not in anew and value != taken[name].default}
    names = {
        "further model files": isinstance(model, tuple),
        "--rename-output": isinstance(options["outputs"], Mapping),
        "--ignore-outputs": options["outputs"] == "ignore",
        "--dim": isinstance(options.get("inputs"), Inputs),
        **{f"--{name.removesuffix('_s').replace('_', '-')}": True for name in sorted(others)},
    }
    return [name for name, is_changed in names.items() if is_changed]


def _go_on(more: str, model: Any, subjects: tuple[Any, ...], options: dict[str, Any]) -> Comparison:
    """Measure more rounds of a saved comparison; refuse what would change it."""
    if subjects != (Config(),) and not isinstance(model, tuple):
        fix = "the configs are those of the file: leave out its settings"
        raise ConfigError("settings of a config were given with --more", fix)
    if changed := _changed(model, options):
        raise ConfigError(
            f"{', '.join(changed)} cannot be changed with --more",
            "leave it out: the comparison goes on as it began",
        )
    saved = call.open(more)
    if not isinstance(saved, Comparison):
        kind = saved.feature.offer
        raise InputError(
            f"{more} is a result of the kind {kind.name!r}, and only a comparison goes on",
            f"name a file that `compare -o` wrote, or ask again: workbench {kind.command_name} …",
        )
    if model is None and saved.record.model.name not in sample_names():
        raise InputError(f"{more} does not hold its model", "name it: workbench compare MODEL --more FILE")
    attached = saved.attach(
        load(model or saved.record.model.name),
        inputs=options.get("inputs"),
        calibration=options.get("calibration"),
    )
    budget_s = options.get("budget_s", 30.0)
    return attached.measure_more(budget_s=budget_s, progress=options["progress"], keep=options["keep"])
