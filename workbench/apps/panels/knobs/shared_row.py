"""Rows of what is the same for all configs: the inputs, and how they are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.apps.panels.state import BenchState
from workbench.core.config import StaticInt8
from workbench.core.errors import ConfigError

MOST_DIMENSIONS = 24  # that get a row; a model with more of them is fed by a file
_MOST_DIGITS = 10  # of a number below 2**31
_MEASURING = (  # (trait, label, factor from the trait's unit, placeholder, help)
    ("budget_s", "time (s)", 1.0, "automatic",
     "Most seconds to measure. Automatic: about 10 s, more for slow models, and up to a minute more while "
     "the answer is open."),
    ("smallest_effect", "effect (%)", 100.0, "1",
     "The smallest difference that matters to you. Default 1 %."),
    ("pacing_s", "pause (ms)", 1000.0, "none",
     "A pause before each run, as requests that arrive now and then. Default: back to back."),
)  # fmt: skip
_PATHS = (  # (trait, label, placeholder, help)
    ("data", "data", "random inputs",
     "An .npz file with an array for every input, or a folder of images or .npy files."),
    ("calibration", "calibration", "the sample's own data, else random",
     "Static int8 measures its ranges on these data: an .npz file, or a folder of images or .npy files. "
     "Default: the data of a trained sample, else random data, with a warning."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SharedRow:
    """A row with one cell for all configs, which shows and sets a trait of the state."""

    key: str  # the trait; of a size also its dimension: "dims/batch"
    label: str
    help: str
    unset: str
    group: str
    scale: float = 0.0  # from the unit of the trait; 0: no number
    options: Mapping[str, Any] = field(default_factory=dict)

    def shown(self, state: BenchState) -> str:
        """Return what the cell shows; empty for what nobody set."""
        trait, _, name = self.key.partition("/")
        value = getattr(state, trait)
        if name:
            return str(dict(value).get(name, ""))
        if self.options:
            return next(words for words, held in self.options.items() if held == value)
        if value == state.trait_defaults(trait):
            return ""
        return f"{value * self.scale:g}" if self.scale else str(value)

    def set(self, state: BenchState, text: str) -> None:
        """Set what a text means; an empty one leaves it at its default."""
        trait, _, name = self.key.partition("/")
        text = "" if text == self.unset else text
        if name:
            sizes = dict(state.dims)  # keeps the order: the same sizes bring back their answer
            if text:
                sizes[name] = whole(self.label, text, 1)
            else:
                sizes.pop(name, None)
            state.dims = tuple(sizes.items())
        elif self.options:
            setattr(state, trait, self.options[text])
        elif not text:
            setattr(state, trait, state.trait_defaults(trait))
        elif trait == "seed":
            state.seed = whole(self.label, text, 0)
        else:
            setattr(state, trait, positive(self.label, text, self.scale) if self.scale else text)

    def to_json(self, state: BenchState) -> dict[str, Any]:
        """Return the row as the page draws it."""
        value = self.shown(state)
        cell = {"value": value or self.unset, "default": not value, "differs": False, "error": ""}
        return {
            "key": self.key, "label": self.label, "help": self.help, "group": self.group, "shared": True,
            "options": [*self.options] or [self.unset], "typed": "" if self.options else self.unset,
            "cells": [cell],
        }  # fmt: skip


def shared_rows(state: BenchState) -> list[SharedRow]:
    """Return the rows of the inputs, of calibration data where a config needs them, and of measuring."""
    sizes = [
        SharedRow(f"dims/{name}", f"size of {name}", f"Size of {name} in the inputs of all configs",
                  "chosen" if name in dict(state.dims) else sizes_in(state).get(name, "chosen"), "inputs")
        for name in dimensions(state.model)
    ]  # fmt: skip
    calibrated = any(isinstance(config.arithmetic, StaticInt8) for config in state.configs.values())
    paths = [SharedRow(trait, label, help, unset, "precision" if trait == "calibration" else "inputs")
             for trait, label, unset, help in _PATHS if trait == "data" or calibrated]  # fmt: skip
    clock = "Of comparisons. Processor time is the work of a run at one thread: other programs hardly " \
            "disturb it. All else takes the configs as they are set."  # fmt: skip
    return [
        *sizes,
        SharedRow("seed", "seed", "Of random inputs. Default 0.", "0", "inputs"),
        *paths,
        *(SharedRow(trait, label, help, unset, "measuring", scale)
          for trait, label, scale, unset, help in _MEASURING),
        SharedRow("clock", "clock", clock, "wall time", "measuring",
                  options={"wall time": "wall", "processor time": "cpu"}),
    ]  # fmt: skip


def preview_line(state: BenchState) -> list[dict[str, Any]]:
    """Return the row that says what the inputs are and what was guessed, or why they cannot be made."""
    preview = state.preview
    if preview is None:
        return []
    texts = [f"{name} {kind}" for name, kind in preview.shapes] + list(preview.guesses)
    words = "; ".join(texts) if preview.error is None else str(preview.error)
    return [{"key": "preview", "label": "inputs", "help": "", "group": "inputs", "line": words, "cells": []}]


def dimensions(model: Any) -> list[str]:
    """Return the names of a model's free dimensions, in the order of its inputs; of unnamed ones `x.2`."""
    return list(dict.fromkeys(name or f"{declared}.{axis}" for declared, axis, name in _free(model)))[
        :MOST_DIMENSIONS
    ]


def named_dimensions(model: Any) -> list[str]:
    """Return the free dimensions with a name of their own, by which ORT knows them."""
    return list(dict.fromkeys(name for _, _, name in _free(model) if name))[:MOST_DIMENSIONS]


def _free(model: Any) -> list[tuple[str, int, str | None]]:
    if model is None:
        return []
    from workbench.core.models.sizes import free_dims  # and onnx with it

    return list(free_dims(model.describe().inputs))


def whole(label: str, typed: str, least: int) -> int:
    """Return a whole number from `least` up."""
    if not typed.isdecimal() or len(typed) > _MOST_DIGITS or not least <= int(typed) < 2**31:
        raise ConfigError(f"The {label} cannot be {typed[:40]!r}.", "Write a whole number such as 8.")
    return int(typed)


def positive(label: str, typed: str, scale: float) -> float:
    """Return a number above zero."""
    try:
        value = float(typed) / scale
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise ConfigError(f"The {label} cannot be {typed[:40]!r}.", "Write a number above 0, or nothing.")
    return value


def sizes_in(state: BenchState) -> dict[str, str]:
    """Return the size of each free dimension of the open model in the inputs as they are made."""
    if state.model is None or state.preview is None or not state.preview.shapes:
        return {}
    from workbench.core.models.declared import TensorType  # and onnx with it

    types = {declared.name: declared.type for declared in state.model.describe().inputs}
    sizes: dict[str, str] = {}
    for name, shape in state.preview.shapes:
        kind = types.get(name)
        numbers = shape.partition("[")[2].rstrip("]").split(",")
        if isinstance(kind, TensorType) and len(kind.dims or ()) == len(numbers):
            sizes |= {
                dim or f"{name}.{axis}": number
                for axis, (dim, number) in enumerate(zip(kind.dims or (), numbers, strict=True))
                if not isinstance(dim, int)
            }
    return sizes
