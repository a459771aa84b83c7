"""What the panels show, as traits: a page reload reads it again, and a test looks at it without a browser."""

from __future__ import annotations

from typing import Any as Anything

from traitlets import Any, Dict, Enum, HasTraits, Instance, Int, Tuple, Unicode

from workbench.config import Config

MOST_PAST = 200  # pairs of configs that undo remembers


class BenchState(HasTraits):
    """The model, the two configs with their history, the running job and the results."""

    model = Any(None, help="workbench.models.Model, or None before one was opened")
    source = Any(None, help="what wb.load was given for it")
    model_error = Any(None, help="why the last one could not be opened")

    a = Instance(Config, args=())
    b = Instance(Config, args=())
    editing = Enum(("A", "B"), default_value="B", help="the config that the panels show")
    refused: Dict[tuple[str, str], Anything] = Dict(
        help="(label, field) → the error of a value that is on the screen and not in the config"
    )
    past = Tuple(help="pairs of configs before the present one, oldest first")
    future = Tuple(help="pairs that were undone, nearest first")

    dims = Tuple(help="pairs of a symbolic dimension and its size in the inputs")
    seed = Int(0)
    given = Unicode("", help="path of an .npz with the inputs; empty: random ones")
    calibration = Unicode("", help="path of what static int8 measures its ranges on; empty: the sample's own")
    budget_s = Any(None, help="None: automatic")
    smallest_effect = Any(0.01)
    pacing_s = Any(None, help="None: back to back")

    job = Any(None, help="JobView of what runs, or None")
    opening = Any(None, help="JobView of the model that is being opened, or None")
    run_error = Any(None, help="why the last run gave no result; an older result stays")
    doctor = Any(None, help="what wb.doctor found, or None before it was asked")
    trouble = Unicode("", help="a bug of ours: its traceback")

    result = Any(None, help="the Comparison that the results show")
    subject = Any(None, help="the model, the configs and the inputs that the parts are about")
    result_subject = Any(None, help="the same of the result; None for one from the history")
    result_code = Unicode("", help="the code that makes the result; empty: it was made elsewhere")
    recent = Tuple(help="sources of models that were opened, newest first")
    parts_made = Int(0, help="grows when the result got more parts")
    parts_apart = Any(False, help="whether the parts are about other configs than the result")
    parts: Dict[str, Anything] = Dict(
        help="further results that no comparison holds, by name: explanations, profiles, …"
    )
    selected = Tuple(help="names of the nodes that are marked in every view")

    def config(self, label: str) -> Config:
        """A or B."""
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
        """One of the two, by its letter."""
        self.change(**{label.lower(): config})

    def undo(self) -> None:
        """Back to the pair before the last change."""
        if self.past:
            present = (self.a, self.b)
            with self.hold_trait_notifications():
                self.future = (present, *self.future)
                self.a, self.b = self.past[-1]
                self.past = self.past[:-1]

    def redo(self) -> None:
        """Forward again."""
        if self.future:
            present = (self.a, self.b)
            with self.hold_trait_notifications():
                self.past = (*self.past, present)
                self.a, self.b = self.future[0]
                self.future = self.future[1:]
