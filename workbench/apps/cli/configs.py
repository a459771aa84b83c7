"""The configs of a command, each under its letter, and further model files with a config each."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from workbench.apps.cli.commands import KEY_VALUE
from workbench.core.errors import ConfigError, InputError

if TYPE_CHECKING:
    from workbench.core.config import Config

_LABELS = "abcdef"
_CANDIDATES = _LABELS[1:]


def add_configs(command: argparse.ArgumentParser) -> None:
    """Add an option for the settings of each config."""
    for label in _LABELS:
        role = {"a": "the baseline, by default ORT's defaults", "b": "the candidate"}
        text = f"a setting of {label.upper()}, {role.get(label, 'a further candidate')}; may be repeated"
        command.add_argument(f"--{label}", **{**KEY_VALUE, "help": text})


def add_files(command: argparse.ArgumentParser) -> None:
    """Add further model files."""
    text = "further model files: B, C…, each with its own settings"
    command.add_argument("files", nargs="*", default=[], metavar="file", help=text)


def read_configs(given: argparse.Namespace) -> list[Config]:
    """Return the baseline and every candidate with at least one setting."""
    from workbench.core.config import Config

    texts = {label: getattr(given, label) for label in _LABELS}
    labels = [label for label in _CANDIDATES if texts[label]]
    for left_out, label in zip(_CANDIDATES, labels, strict=False):
        if label != left_out:
            raise ConfigError(
                f"--{label} was given without --{left_out}, so its results would stand under another letter",
                f"name the candidates in order: --{left_out} in place of --{label}",
            )
    judging = [
        name for name in ("fail_if", "max_accuracy_drop") if getattr(given, name, None) not in (None, ())
    ]
    if judging and not labels and not getattr(given, "more", None) and not getattr(given, "sizes", None):
        raise ConfigError(
            f"--{judging[0].replace('_', '-')} judges candidates, and none was given",
            "name one by its settings: --b level=all",
        )
    return [Config.from_assignments(texts[label] or []) for label in ("a", *labels)]


def read_files(given: argparse.Namespace) -> list[tuple[str, Config]]:
    """Return each model file with the settings of its letter; nothing where there is only one file."""
    from workbench.core.config import Config

    if not getattr(given, "files", None):
        return []
    files = [given.model, *given.files]
    if len(files) > len(_LABELS):
        raise InputError(f"{len(files)} files were given", f"give at most {len(_LABELS)}")
    texts = {label: getattr(given, label) for label in _LABELS}
    for label in _LABELS[len(files) :]:
        if texts[label]:
            raise ConfigError(
                f"--{label} was given, and there are {len(files)} model files",
                f"the letters are those of the files, --a to --{_LABELS[len(files) - 1]}",
            )
    return [
        (file, Config.from_assignments(texts[label] or []))
        for file, label in zip(files, _LABELS, strict=False)
    ]


def read_subjects(given: argparse.Namespace) -> list[Any]:
    """Return what stands behind the model: its configs, or the further files with theirs."""
    return read_files(given)[1:] or read_configs(given)
