"""Rows of what is the same for all configs: the inputs, and how they are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from workbench.apps.panels.knobs.row import SettingRow, ValuePlace, entry_place
from workbench.apps.panels.state import BenchState
from workbench.core.config import StaticInt8
from workbench.core.form import Field

MOST_DIMENSIONS = 24  # that get a row; a model with more of them is fed by a file
_MOST_DIGITS = 10  # of a number below 2**31


def trait_place(trait: str) -> ValuePlace:
    """Return the place of a trait of the state, which holds pairs as a tuple."""

    def put(state: BenchState, value: Any) -> BenchState:
        setattr(state, trait, tuple(value.items()) if isinstance(value, dict) else value)
        return state

    return ValuePlace(attrgetter(trait), put)


def whole(label: str, least: int) -> Callable[[str], Any]:
    """Return what reads a whole number from `least` up."""

    def read(text: str) -> int:
        if not text.isdecimal() or len(text) > _MOST_DIGITS or not least <= int(text) < 2**31:
            raise ValueError(text)
        return int(text)

    return Field("", label, "", read, example="8").value


def _row(trait: str, label: str, unset: str, help: str, group: str, **reads: Any) -> SettingRow:
    settings = {unset: getattr(BenchState, trait).default_value}
    return SettingRow(trait, label, help, settings, trait_place(trait), group, typed=unset, **reads)


def _number(trait: str, label: str, scale: float, unset: str, help: str) -> SettingRow:
    """Return the row of a number above 0, `scale` times as large on the screen as in the state."""

    def read(text: str) -> float:
        if not 0 < (value := float(text) / scale) < 1e6:
            raise ValueError(text)
        return value

    reads = {
        "words": lambda value: f"{value * scale:g}",
        "parse": Field("", label, "", read, example="8").value,
    }
    return _row(trait, label, unset, help, "measuring", **reads)


_ROWS = (
    _row("seed", "seed", "0", "Of random inputs. Default 0.", "inputs", parse=whole("seed", 0)),
    _row("data", "data", "random inputs",
         "An .npz file with an array for every input, or a folder of images or .npy files.", "inputs"),
    _row("calibration", "calibration", "the sample's own data, else random",
         "Static int8 measures its ranges on these data: an .npz file, or a folder of images or .npy files. "
         "Default: the data of a trained sample, else random data, with a warning.", "precision"),
    _number("budget_s", "time (s)", 1.0, "automatic",
            "Most seconds to measure. Automatic: about 10 s, more for slow models, and up to a minute more "
            "while the answer is open."),
    _number("smallest_effect", "effect (%)", 100.0, "1",
            "The smallest difference that matters to you. Default 1 %."),
    _number("pacing_s", "pause (ms)", 1000.0, "none",
            "A pause before each run, as requests that arrive now and then. Default: back to back."),
    SettingRow("clock", "clock",
               "Of comparisons. Processor time is the work of a run at one thread: other programs hardly "
               "disturb it. All else takes the configs as they are set.",
               {"wall time": "wall", "processor time": "cpu"}, trait_place("clock"), "measuring"),
)  # fmt: skip


def shared_rows(state: BenchState) -> list[SettingRow]:
    """Return the rows of the inputs, of calibration data where a config needs them, and of measuring."""
    calibrated = any(isinstance(config.arithmetic, StaticInt8) for config in state.configs.values())
    return [*_size_rows(state), *(row for row in _ROWS if calibrated or row.key != "calibration")]


def _size_rows(state: BenchState) -> Iterator[SettingRow]:
    """Yield the row of the size of each free dimension, in the inputs as they are made unless it is set."""
    if state.model is None:
        return
    from workbench.core.models.sizes import free_names
    from workbench.core.models.usual import sizes_in  # and onnx with it

    made = {} if state.preview is None else sizes_in(state.model.structure, state.preview.shapes)
    for name in free_names(state.model.structure)[:MOST_DIMENSIONS]:
        unset = "chosen" if name in dict(state.dims) else str(made.get(name, "chosen"))
        label, help = f"size of {name}", f"Size of {name} in the inputs of all configs"
        place, parse = entry_place(trait_place("dims"), name), whole(label, 1)
        yield SettingRow(f"dims/{name}", label, help, {unset: None}, place, "inputs", unset, parse=parse)


def preview_line(state: BenchState) -> list[dict[str, Any]]:
    """Return the row that says what the inputs are and what was guessed, or why they cannot be made."""
    preview = state.preview
    if preview is None:
        return []
    texts = [f"{name} {kind}" for name, kind in preview.shapes] + list(preview.guesses)
    words = "; ".join(texts) if preview.error is None else str(preview.error)
    return [line("preview", "inputs", "inputs", words)]


def line(key: str, label: str, group: str, words: str, **further: Any) -> dict[str, Any]:
    """Return a row of words alone, as the page draws it."""
    return {"key": key, "label": label, "help": "", "group": group, "line": words, "cells": [], **further}


def named_dimensions(model: Any) -> list[str]:
    """Return the free dimensions with a name of their own, by which ORT knows them."""
    if model is None:
        return []
    from workbench.core.models.sizes import free_dims  # and onnx with it

    names = (name for _, _, name in free_dims(model.describe().inputs) if name)
    return list(dict.fromkeys(names))[:MOST_DIMENSIONS]
