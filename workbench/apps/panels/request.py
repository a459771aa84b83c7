"""What a button asks for: a snapshot of the panels, taken when it is pressed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import workbench as wb
from workbench.core.config import Config
from workbench.core.feature import Feature
from workbench.core.form import values_of

LABELS = "ABCDEF"  # of the columns; wb.compare takes more
SMALLEST_EFFECT = 0.01  # the default of wb.compare


def labelled(configs: Iterable[Config]) -> dict[str, Config]:
    """Return configs by the label of their column."""
    return dict(zip(LABELS, configs, strict=False))


@dataclass(frozen=True, slots=True)
class Subject:
    """A model, its configs and their inputs: what a result is about."""

    model: Any
    configs: Mapping[str, Config]  # by label
    dims: tuple[tuple[str, int], ...] = ()
    seed: int = 0
    data: str = ""  # path of a file with the inputs; empty: random ones
    calibration: str = ""  # path of the data for static int8; empty: the default of the library
    source: Any = field(default=None, compare=False)  # what wb.load was given

    @property
    def distinct(self) -> Mapping[str, Config]:
        """The configs by label; A alone if all are equal."""
        return self.configs if len(set(self.configs.values())) > 1 else {"A": self.configs["A"]}

    def inputs(self) -> Any:
        """Make the inputs, which takes time."""
        if self.data:
            from workbench.core.prepare.real_data import inputs_from  # loads slowly

            return inputs_from(self.model, self.data)
        return self.model.inputs(seed=self.seed, dims=dict(self.dims))


@dataclass(frozen=True, slots=True)
class InputsPreview:
    """What the inputs are, or why they cannot be made."""

    shapes: tuple[tuple[str, str], ...] = ()
    guesses: tuple[str, ...] = ()
    error: Exception | None = None
    made_by: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A subject, how it is measured, and the results that exist for it."""

    subject: Subject
    shown: str = "B"  # the label of the config that the panels show
    budget_s: float | None = None
    smallest_effect: float = SMALLEST_EFFECT
    pacing_s: float | None = None
    comparison: wb.Comparison | None = None  # the comparison on the screen, if it is about this subject
    comparison_code: str = ""  # the code that makes it; empty: it was made elsewhere
    parts: Mapping[str, Any] = field(default_factory=dict)  # results of this subject without a comparison
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # kind → argument → changed text
    clock: str = "wall"  # of the comparison; cpu: processor time at one thread

    @property
    def shown_config(self) -> tuple[str, Config]:
        """The label and the config that the panels show."""
        return self.shown, self.subject.configs[self.shown]

    def configs_of(self, kind: Feature) -> Mapping[str, Config]:
        """Return the configs that a result of a kind is about, by label; without those that failed."""
        configs = self.subject.distinct
        if kind.per == "config":
            configs = dict([self.shown_config])
        elif kind.per == "baseline":
            configs = {"A": self.subject.configs["A"]}
        elif self.comparison is not None and kind.per != "runs":
            configs = {run.label: run.config for run in self.comparison.runs if run.failure is None}
        if "precision" in kind.needs:
            return {label: config for label, config in configs.items() if config.precision is not None}
        return configs

    def options(self, kind: Feature, **further: Any) -> dict[str, Any]:
        """The keywords of a kind's function that the panels set, and those of the `further` that it takes."""
        subject = self.subject
        panels: dict[str, Any] = {
            "data": subject.data or None,
            "calibration": subject.calibration or None,
            "seed": subject.seed or None,
            "budget_s": self.budget_s,
            **further,
        }
        taken = set[str](kind.takes)
        common = {name: value for name, value in panels.items() if name in taken and value is not None}
        return {**values_of(kind.form, self.forms.get(kind.name, {}), subject.model, subject.data), **common}

    def compare_options(self) -> dict[str, Any]:
        """The keywords of `wb.compare` that differ from their defaults, without inputs and seed."""
        options: dict[str, Any] = {"budget_s": self.budget_s, "pacing_s": self.pacing_s}
        options["calibration"] = self.subject.calibration or None
        if self.smallest_effect != SMALLEST_EFFECT:
            options["smallest_effect"] = self.smallest_effect
        if self.clock != "wall":
            options["clock"] = self.clock
        return {name: value for name, value in options.items() if value is not None}
