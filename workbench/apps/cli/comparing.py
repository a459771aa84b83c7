"""`workbench compare`: two or more configs of a model, and the verdict."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.apps.cli.commands import SEED_AND_ORDER, Commands, add, add_command
from workbench.apps.cli.subject import common, read_inputs, save, shows_progress
from workbench.core.errors import ConfigError, InputError
from workbench.core.measure.gates import of_comparison

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord
    from workbench.core.config import Config
    from workbench.features.compare.result import Comparison

_LABELS = "abcdef"
_CANDIDATES = _LABELS[1:]
_OF_THE_FILE = {  # what a comparison that goes on keeps, by the name of the option
    "others": "further model files",
    "rename_output": "--rename-output",
    "ignore_outputs": "--ignore-outputs",
    "dim": "--dim",
    "pacing": "--pacing",
    "seed": "--seed",
    "smallest_effect": "--smallest-effect",
    "clock": "--clock",
}
_EXAMPLE = "workbench compare bert-base --b level=all --b intra_op_threads=2"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    compare = add_command(commands, "compare", run, "measure configs of a model side by side", _EXAMPLE)
    add(compare, "model", nargs="?")
    compare.add_argument(
        "others",
        nargs="*",
        default=[],
        metavar="file",
        help="further model files: B, C…, each with its own settings",
    )
    compare.add_argument(
        "--rename-output",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="an output of the model that has another name in the further files; may be repeated",
    )
    compare.add_argument(
        "--ignore-outputs", action="store_true", help="compare the time alone of different nets"
    )
    compare.add_argument(
        "--more", metavar="FILE", help="go on measuring a saved comparison of this model, on the same machine"
    )
    for label in _LABELS:
        role = {"a": "the baseline, by default ORT's defaults", "b": "the candidate"}
        compare.add_argument(
            f"--{label}",
            action="append",
            metavar="KEY=VALUE",
            help=f"a setting of {label.upper()}, {role.get(label, 'a further candidate')}; may be repeated",
        )
    add(compare, "--dim", "--npz", "--calibration", "--pacing", "--output", "--no-history")
    add(compare, "--seed", help=SEED_AND_ORDER)
    more = "seconds that it may take; default: about 10, up to a minute more while the answer is open"
    add(compare, "--budget", help=more)
    add(compare, "--smallest-effect")
    compare.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: compare processor time at one thread, which other programs hardly disturb",
    )
    add(compare, "--fail-if", "--json", "--quiet", "--allow-fallback")
    compare.set_defaults(usage_error=compare.error, default_of=compare.get_default)


def run(arguments: argparse.Namespace) -> int:
    """Measure the configs, print the comparison and save it."""
    from workbench.core.measure.compare_request import check_seed
    from workbench.core.models import load
    from workbench.features.compare.call import compare

    if arguments.more:
        return run_more(arguments)
    if arguments.model is None:
        arguments.usage_error("the following arguments are required: model")
    files = read_files(arguments)
    configs = [] if files else read_configs(arguments)
    check_seed(arguments.seed)
    model = load(arguments.model)
    inputs = read_inputs(arguments, model)
    subjects = [(model, files[0][1]), *files[1:]] if files else [model, *configs]
    result = compare(
        *subjects,
        outputs=read_outputs(arguments),
        inputs=inputs,
        smallest_effect=arguments.smallest_effect,
        clock=arguments.clock,
        seed=arguments.seed,
        **common(arguments),
    )
    return report(arguments, result)


def run_more(arguments: argparse.Namespace) -> int:
    """Continue a saved comparison, print it and save it."""
    from workbench.core.models import load
    from workbench.core.models.samples import samples
    from workbench.features.compare.call import open as open_bundle
    from workbench.features.compare.result import Comparison

    given = [label for label in _LABELS if getattr(arguments, label)]
    if given:
        raise ConfigError(
            f"--{given[0]} was given with --more", "the configs are those of the file: leave out its settings"
        )
    if ignored := [
        words
        for name, words in _OF_THE_FILE.items()
        if getattr(arguments, name) != arguments.default_of(name)
    ]:
        raise ConfigError(
            f"{', '.join(ignored)} cannot be changed with --more",
            "leave it out: the comparison goes on as it began",
        )
    opened = open_bundle(arguments.more)
    if not isinstance(opened, Comparison):
        raise InputError(f"{arguments.more} holds no comparison", "name a file that `compare -o` wrote")
    name = arguments.model
    if name is None:
        if opened.record.model.name not in set(samples()["name"]):
            raise InputError(
                f"{arguments.more} does not hold its model", "name it: workbench compare MODEL --more FILE"
            )
        name = opened.record.model.name
    attached = opened.attach(load(name), inputs=arguments.npz, calibration=arguments.calibration)
    result = attached.measure_more(
        budget_s=30.0 if arguments.budget is None else arguments.budget,
        progress=shows_progress(arguments),
        keep=not arguments.no_history,
    )
    return report(arguments, result)


def report(arguments: argparse.Namespace, result: Comparison) -> int:
    """Print a comparison, save it and its summaries if the user named files, and return the exit code."""
    from workbench.apps.cli.text import in_full

    print(json.dumps(record_to_json(result.record)) if arguments.json else in_full(result.record))
    return save(result, arguments, of_comparison(result.record, arguments.fail_if))


def read_configs(arguments: argparse.Namespace) -> list[Config]:
    """Return the baseline and every candidate with at least one setting; refuse a lone baseline."""
    configs = read_candidates(arguments)
    if len(configs) < 2:
        example = f"workbench compare {shlex.quote(arguments.model)} --b intra_op_threads=1"
        raise ConfigError("only one config was given, so there is nothing to compare", f"add one: {example}")
    return configs


def read_files(arguments: argparse.Namespace) -> list[tuple[str, Config]]:
    """Return each model file with the settings of its letter; nothing where there is only one file."""
    from workbench.core.config import Config

    files = [arguments.model, *arguments.others] if arguments.others else []
    if len(files) > len(_LABELS):
        raise InputError(f"{len(files)} files were given", f"give at most {len(_LABELS)}")
    texts = {label: getattr(arguments, label) for label in _LABELS}
    for label in _LABELS[len(files) :] if files else ():
        if texts[label]:
            raise ConfigError(
                f"--{label} was given, and there are {len(files)} model files",
                f"the letters are those of the files, --a to --{_LABELS[len(files) - 1]}",
            )
    return [
        (file, Config.from_assignments(texts[label] or []))
        for file, label in zip(files, _LABELS, strict=False)
    ]


def read_outputs(arguments: argparse.Namespace) -> Any:
    """Return what the options say about outputs, as `wb.compare` takes it."""
    if arguments.ignore_outputs and arguments.rename_output:
        raise InputError("--ignore-outputs and --rename-output were both given", "give one of them")
    if arguments.ignore_outputs:
        return "ignore"
    renamed = {}
    for text in arguments.rename_output:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise InputError(f"--rename-output {text!r} is not OLD=NEW", "write both names: 339=logits")
        renamed[old] = new
    return renamed or None


def add_configs(command: argparse.ArgumentParser) -> None:
    """Add the options of the configs, as `read_candidates` reads them."""
    baseline = "a setting of A, the baseline, by default ORT's defaults; may be repeated"
    add(command, "--a", help=baseline)
    add_candidates(command)


def add_candidates(command: argparse.ArgumentParser) -> None:
    """Add the options of the configs after the first one."""
    for label in _CANDIDATES:
        text = f"a setting of {label.upper()}, a further config; may be repeated"
        command.add_argument(f"--{label}", action="append", metavar="KEY=VALUE", help=text)


def read_candidates(arguments: argparse.Namespace) -> list[Config]:
    """Return the baseline and every candidate with at least one setting."""
    from workbench.core.config import Config

    texts = {label: getattr(arguments, label) for label in _LABELS}
    given = [label for label in _CANDIDATES if texts[label]]
    for left_out, label in zip(_CANDIDATES, given, strict=False):
        if label != left_out:
            raise ConfigError(
                f"--{label} was given without --{left_out}, so its results would stand under another letter",
                f"name the candidates in order: --{left_out} in place of --{label}",
            )
    return [Config.from_assignments(texts[label] or []) for label in ("a", *given)]


def record_to_json(record: ComparisonRecord) -> dict[str, Any]:
    """Return the verdicts with all their data."""
    return {
        "id": record.id,
        "created_utc": record.created_utc,
        "model": asdict(record.model),
        "inputs": asdict(record.inputs),
        "machine": asdict(record.machine),
        "versions": asdict(record.versions),
        "protocol": asdict(record.protocol),
        "verdicts": [asdict(verdict) for verdict in record.verdicts],
        "runs": [
            {
                "label": run.label,
                "config": run.config.to_dict(),
                "providers": run.providers,
                "threads": run.threads,
                "threads_from": run.threads_from,
                "median_s": run.latency.median_s,
                "load_s": run.load_s,
                "first_run_s": run.first_run_s,
                "peak_rss_bytes": run.peak_rss_bytes,
                "failure": None if run.failure is None else asdict(run.failure),
                "processes": [asdict(process) for process in run.processes],
            }
            for run in record.runs
        ],
        "agreement": [asdict(row) for row in record.agreement],
        "doubts": [asdict(doubt) for doubt in record.doubts],
    }
