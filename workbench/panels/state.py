"""What the panels show, as traits: a page reload reads it again, and a test checks it without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any as Anything

from traitlets import Any, Dict, Enum, HasTraits, Instance, Int, Tuple, Unicode

from workbench.api.comparing import Comparison
from workbench.config import Config
from workbench.panels.request import SMALLEST_EFFECT, Request, Subject

MOST_PAST = 200  # pairs of configs that undo remembers


class BenchState(HasTraits):
    """The model, the two configs with their history, the running job and the results."""

    model = Any(None, help="workbench.models.Model, or None before a model was opened")
    source = Any(None, help="what wb.load was given for the model")
    model_error = Any(None, help="why the last model could not be opened")
    recent = Tuple(help="sources of models that were opened, newest first")

    a = Instance(Config, args=())
    b = Instance(Config, args=())
    editing = Enum(("A", "B"), default_value="B", help="label of the config that the panels show")
    refused: Dict[tuple[str, str], Anything] = Dict(
        help="(label, field) → the error of a value that is on the screen and not in the config"
    )
    past = Tuple(help="pairs of configs before the present one, oldest first")
    future = Tuple(help="pairs of configs that were undone, nearest first")

    dims = Tuple(help="pairs of a symbolic dimension and its size in the inputs")
    seed = Int(0)
    data = Unicode("", help="path of an .npz with the inputs; empty: random inputs")
    calibration = Unicode("", help="path of the calibration data for static int8; empty: the default")
    budget_s = Any(None, help="None: automatic")
    smallest_effect = Any(SMALLEST_EFFECT)
    pacing_s = Any(None, help="None: back to back")

    job = Any(None, help="JobView of the running job, or None")
    opening = Any(None, help="JobView of the model that is being opened, or None")
    run_error = Any(None, help="why the last run gave no result; an older result stays")
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
    parts_apart = Any(False, help="whether the parts are about other configs than the result")
    tried: Dict[tuple[Anything, Anything], Anything] = Dict(
        help="(the findings, one of them) → the FixResult of its fix"
    )
    selected = Tuple(help="names of the nodes that are selected in every view")

    # Configs

    def config(self, label: str) -> Config:
        """Return A or B."""
        return self.a if label == "A" else self.b

    def change(self, **configs: Config) -> None:
        """Set `a`, `b` or both, as one step that can be undone."""
        before = (self.a, self.b)
        after = (configs.get("a", self.a), configs.get("b", self.b))
        if before == after:
            return
        with self.hold_trait_notifications():
            self.past = (*self.past, before)[-MOST_PAST:]
            self.future = ()
            self.a, self.b = after

    def set_config(self, label: str, config: Config) -> None:
        """Set A or B by its label."""
        self.change(**{label.lower(): config})

    def undo(self) -> None:
        """Return to the pair of configs before the last change."""
        if self.past:
            present = (self.a, self.b)
            with self.hold_trait_notifications():
                self.future = (present, *self.future)
                self.a, self.b = self.past[-1]
                self.past = self.past[:-1]

    def redo(self) -> None:
        """Repeat the change that was undone last."""
        if self.future:
            present = (self.a, self.b)
            with self.hold_trait_notifications():
                self.past = (*self.past, present)
                self.a, self.b = self.future[0]
                self.future = self.future[1:]

    # Requests and their results

    def request(self) -> Request:
        """Return a snapshot of the panels, with the results that are about the same subject."""
        subject = Subject(
            self.model, self.a, self.b, tuple(self.dims), self.seed, self.data, self.calibration, self.source
        )
        return Request(
            subject, self.editing, self.budget_s, self.smallest_effect, self.pacing_s,
            self.result if self.result_subject == subject else None,
            dict(self.parts) if self.parts_subject == subject else {},
        )  # fmt: skip

    def show_comparison(self, result: Comparison, subject: Subject | None = None, code: str = "") -> None:
        """Put a comparison into the results; without a subject it comes from the history or a bundle."""
        with self.hold_trait_notifications():
            self.run_error, self.parts, self.parts_apart = None, {}, False
            self.parts_subject = self.result_subject = subject
            self.result_code, self.result = code, result

    def show_parts(self, request: Request, parts: Mapping[str, Anything]) -> None:
        """Put further results beside the comparison, unless it holds them already."""
        held = request.comparison is not None and request.comparison is self.result
        with self.hold_trait_notifications():
            self.run_error = None
            before = self.parts if self.parts_subject == request.subject else {}
            self.parts_subject = request.subject
            self.parts = {} if held else {**before, **parts}
            self.parts_apart = bool(self.parts) and self.result is not None
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
