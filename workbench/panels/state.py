"""What the panels show, as traits: a page reload reads it again, and a test checks it without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from typing import Any as Anything

from traitlets import Any, Dict, HasTraits, Instance, Int, Tuple, Unicode

from workbench.config import Config
from workbench.panels.request import LABELS, SMALLEST_EFFECT, Request, Subject

if TYPE_CHECKING:
    from workbench.results.comparison import Comparison

MOST_PAST = 200  # steps that undo remembers


class BenchState(HasTraits):
    """The model, the configs with their history, the running job and the results."""

    model = Any(None, help="workbench.models.Model, or None before a model was opened")
    source = Any(None, help="what wb.load was given for the model")
    model_error = Any(None, help="why the last model could not be opened")
    recent = Tuple(help="sources of models that were opened, newest first")

    a = Instance(Config, args=())
    b = Instance(Config, args=())
    more = Tuple(help="the configs beyond A and B: C, D, …")
    editing = Unicode("B", help="label of the config whose details the panels show")
    refused: Dict[tuple[str, str], Anything] = Dict(
        help="(label, field) → the error of a value that is on the screen and not in the config"
    )
    past = Tuple(help="tuples of all configs before the present one, oldest first")
    future = Tuple(help="tuples of all configs that were undone, nearest first")

    dims = Tuple(help="pairs of a symbolic dimension and its size in the inputs")
    seed = Int(0)
    preview = Any(None, help="the InputsPreview of the inputs as they are, or None until they were made")
    data = Unicode("", help="path of an .npz with the inputs; empty: random inputs")
    calibration = Unicode("", help="path of the calibration data for static int8; empty: the default")
    budget_s = Any(None, help="None: automatic")
    smallest_effect = Any(SMALLEST_EFFECT)
    pacing_s = Any(None, help="None: back to back")
    clock = Unicode("wall", help="wall, or cpu: processor time at one thread")

    job = Any(None, help="JobView of the running job, or None")
    opening = Any(None, help="JobView of the model that is being opened, or None")
    run_error = Any(None, help="why the last run gave no result; an older result stays")
    environments = Tuple(
        help="the Environments that a config can run on, this one first; empty: not known yet"
    )
    doctor = Any(None, help="the result of wb.doctor, or None before it ran")
    bug = Unicode("", help="the traceback of a bug of the workbench")

    result = Any(None, help="the Comparison that the results show")
    result_subject = Any(None, help="the Subject of the result; None for a result from the history")
    result_code = Unicode("", help="the code that makes the result; empty: the result was made elsewhere")
    parts: Dict[str, Anything] = Dict(
        help="further results that no comparison holds, by name: explanations, profiles, …"
    )
    parts_subject = Any(None, help="the Subject of the parts")
    parts_made = Int(0, help="grows when further results were made")
    made = Unicode("", help="the kind of the further results that were made last")
    parts_apart = Any(False, help="whether the parts are about other configs than the result")
    tried: Dict[tuple[Anything, Anything], Anything] = Dict(
        help="(the findings, one of them) → the FixResult of its fix"
    )
    forms: Dict[str, Anything] = Dict(
        help="kind of result → argument → text of each field of its form that a person changed"
    )
    forms_made: Dict[str, Anything] = Dict(help="the forms by which the parts were made, by kind")
    scenario = Unicode("sweep", help="the kind of result whose fields the tab scenarios shows")
    space = Any(None, help="the Space that the tab tune offers, or None before it was looked for")
    space_for = Any(None, help="goal, config and inputs that the space was looked for; None: it was given")
    study = Any(None, help="the Study of the tab tune, or None")
    selected = Tuple(help="names of the nodes that are selected in every view")

    # Configs

    @property
    def configs(self) -> dict[str, Config]:
        """The configs by label, the baseline first."""
        return dict(zip(LABELS, (self.a, self.b, *self.more), strict=False))

    def config(self, label: str) -> Config:
        """Return the config with a label."""
        return self.configs[label]

    def change(self, **configs: Config) -> None:
        """Set `a`, `b`, or any other by its label in lower case, as one step that can be undone."""
        self.set_configs({**self.configs, **{label.upper(): config for label, config in configs.items()}})

    def set_config(self, label: str, config: Config) -> None:
        """Set the config with a label."""
        self.set_configs({**self.configs, label: config})

    def set_configs(self, configs: Mapping[str, Config]) -> None:
        """Set all configs, in their order, as one step that can be undone."""
        before, after = tuple(self.configs.values()), tuple(configs.values())
        if before != after:
            with self.hold_trait_notifications():
                self.past = (*self.past, before)[-MOST_PAST:]
                self.future = ()
                self._hold(after)

    def duplicate(self, label: str) -> None:
        """Add a column with the same config."""
        if len(self.configs) < len(LABELS):
            with self.hold_trait_notifications():
                self.set_configs({**self.configs, LABELS[len(self.configs)]: self.config(label)})
                self.editing = LABELS[len(self.configs) - 1]

    def drop(self, label: str) -> None:
        """Remove a column; those behind it move up. A and one candidate stay."""
        if label != "A" and len(self.configs) > 2:
            with self.hold_trait_notifications():
                self.set_configs({key: config for key, config in self.configs.items() if key != label})

    def _hold(self, configs: tuple[Config, ...]) -> None:
        self.a, self.b, self.more = configs[0], configs[1], configs[2:]
        if self.editing not in self.configs:
            self.editing = "B"

    def undo(self) -> None:
        """Return to the configs before the last change."""
        if self.past:
            with self.hold_trait_notifications():
                self.future = (tuple(self.configs.values()), *self.future)
                self._hold(self.past[-1])
                self.past = self.past[:-1]

    def redo(self) -> None:
        """Repeat the change that was undone last."""
        if self.future:
            with self.hold_trait_notifications():
                self.past = (*self.past, tuple(self.configs.values()))
                self._hold(self.future[0])
                self.future = self.future[1:]

    # Requests and their results

    def request(self) -> Request:
        """Return a snapshot of the panels, with the results that are about the same subject."""
        subject = Subject(
            self.model, self.a, self.b, tuple(self.dims), self.seed, self.data, self.calibration,
            more=tuple(self.more), source=self.source,
        )  # fmt: skip
        return Request(
            subject, self.editing, self.budget_s, self.smallest_effect, self.pacing_s,
            self.result if self.result_subject == subject else None,
            dict(self.parts) if self.parts_subject == subject else {},
            dict(self.forms), self.clock,
        )  # fmt: skip

    def show_comparison(self, result: Comparison, subject: Subject | None = None, code: str = "") -> None:
        """Put a comparison into the results; without a subject it comes from the history or a bundle."""
        with self.hold_trait_notifications():
            self.run_error, self.parts, self.parts_apart = None, {}, False
            self.parts_subject = self.result_subject = subject
            self.result_code, self.result = code, result

    def show_parts(self, request: Request, parts: Mapping[str, Anything], kind: str = "") -> None:
        """Put further results of a kind beside the comparison, unless it holds them already."""
        held = request.comparison is not None and request.comparison is self.result
        with self.hold_trait_notifications():
            self.run_error = None
            before = self.parts if self.parts_subject == request.subject else {}
            self.parts_subject = request.subject
            self.parts = {} if held else {**before, **parts}
            self.parts_apart = bool(self.parts) and self.result is not None
            self.made = kind
            self.forms_made = {**self.forms_made, kind: request.forms.get(kind, {})}
            self.parts_made += 1

    def held_parts(self, kind: str) -> dict[str, Anything]:
        """Return the further results of a kind by label: those beside the comparison, else its own."""
        start, result = f"{kind}/", self.result
        beside = {
            name.removeprefix(start): part for name, part in self.parts.items() if name.startswith(start)
        }
        if beside or result is None:
            return dict(sorted(beside.items()))
        labels = sorted(part.label for part in result.parts if part.kind == kind and part.label)
        return {label: result.made(kind, label) for label in labels}

    def whole_part(self, kind: str) -> Anything | None:
        """Return the further result of a kind about all runs: the one beside the comparison, else its own."""
        if kind in self.parts or self.result is None:
            return self.parts.get(kind)
        held = any(part.name == kind for part in self.result.parts)
        return self.result.made(kind) if held else None

    def has_part(self, kind: str) -> bool:
        """Return whether there is a further result of this kind, of a run or of the whole comparison."""
        whole = self.result is not None and any(part.name == kind for part in self.result.parts)
        return whole or kind in self.parts or bool(self.held_parts(kind))
