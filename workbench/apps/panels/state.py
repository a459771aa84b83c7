"""What the panels show, as traits: a page reload reads it again, and a test checks it without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any as Anything

from traitlets import Any, Bool, Dict, Enum, HasTraits, Instance, Int, Tuple, Unicode, observe

import workbench as wb
from workbench.apps.panels.answers import NO_ANSWER, Answer, configs_of, folded_with
from workbench.apps.panels.request import LABELS, SMALLEST_EFFECT, Request, Subject, labelled
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.feature import Role
from workbench.core.models.recorded import is_file_of
from workbench.features.base.registry import KINDS

SUBJECT = ("model", "configs", "dims", "seed", "data", "calibration")  # what a result is about
MODES = ("compare", "improve", "explore", "results")
MOST_DONE = 200  # codes of what was made
MOST_PAST = 200  # steps that undo remembers


class BenchState(HasTraits):
    """The model, the configs with their history, the running job and the results."""

    model = Any(None, help="workbench.core.models.Model, or None before a model was opened")
    source = Any(None, help="what wb.load was given for the model")
    model_error = Any(None, help="why the last model could not be opened")
    recent = Tuple(help="sources of models that were opened, newest first")

    configs: Dict[str, Config] = Dict(labelled((Config(), Config())), help="by label, the baseline first")
    editing = Unicode("B", help="label of the config whose details the panels show")
    refused: Dict[tuple[str, str], Anything] = Dict(help="(label, field) → error and text of a refused value")
    past = Tuple(help="the configs before the present ones, oldest first")
    future = Tuple(help="the configs that were undone, nearest first")

    dims = Tuple(help="pairs of a symbolic dimension and its size in the inputs")
    seed = Int(0)
    preview = Any(None, help="the InputsPreview of the inputs as they are, or None until they were made")
    data = Unicode("", help="path of an .npz with the inputs; empty: random inputs")
    calibration = Unicode("", help="path of the calibration data for static int8; empty: the default")
    budget_s = Any(None, help="None: automatic")
    smallest_effect = Any(SMALLEST_EFFECT)
    pacing_s = Any(None, help="None: back to back")
    clock = Unicode("wall", help="wall, or cpu: processor time at one thread")

    mode = Enum(MODES, "compare", help="what the panels are for now")
    projector = Bool(False, help="whether type is large and the settings are folded")
    wide = Bool(False, help="whether a view takes the whole width: configs and answer are folded")

    job = Any(None, help="JobView of the running job, or None")
    opening = Any(None, help="JobView of the model that is being opened, or None")
    run_error = Any(None, help="why the last run gave no result; an older result stays")
    environments = Tuple(help="the Environments a config can run on, this one first; empty: not known yet")
    doctor = Any(None, help="the result of wb.doctor, or None before it ran")
    bug = Unicode("", help="the traceback of a bug of the workbench")

    answer = Instance(Answer, (None, None, "", {}), help="what the results show")
    made = Tuple(help="the kinds of the further results that were made here, in order")
    done = Tuple(help="the code of everything that was made here, in order")
    folded = Tuple(help="Answers about something else than what is set, the newest last")
    tried: Dict[tuple[Anything, Anything], Anything] = Dict(help="(findings, one of them) → its FixResult")
    took_s: Dict[tuple[str, Anything], float] = Dict(help="(action, path of a model) → seconds it took last")
    forms: Dict[str, Anything] = Dict(help="kind → argument → text of each field that a person changed")
    selected = Tuple(help="names of the nodes that are selected in every view")

    @property
    def result(self) -> Anything:
        """The comparison that the results show; None: there is none."""
        return self.answer.result

    @property
    def parts(self) -> Mapping[str, Anything]:
        """Further results that no comparison holds, by name: explanation/B."""
        return self.answer.parts

    # Configs

    def set_config(self, label: str, config: Config) -> None:
        """Set the config with a label."""
        self.set_configs({**self.configs, label: config})

    def set_configs(self, configs: Mapping[str, Config]) -> None:
        """Set all configs, in their order, as one step that can be undone."""
        after = labelled(configs.values())
        if after != self.configs:
            with self.hold_trait_notifications():
                self.past, self.future = (*self.past, self.configs)[-MOST_PAST:], ()
                self._hold(after)

    def duplicate(self, label: str) -> None:
        """Add a column with the same config."""
        if len(self.configs) < len(LABELS):
            with self.hold_trait_notifications():
                self.set_configs({**self.configs, LABELS[len(self.configs)]: self.configs[label]})
                self.editing = LABELS[len(self.configs) - 1]

    def drop(self, label: str) -> None:
        """Remove a column; those behind it move up. A and one candidate stay."""
        if label != "A" and len(self.configs) > 2:
            self.set_configs({key: config for key, config in self.configs.items() if key != label})

    def _hold(self, configs: dict[str, Config]) -> None:
        self.configs = configs
        if self.editing not in configs:
            self.editing = "B"

    def undo(self) -> None:
        """Return to the configs before the last change."""
        self._step(-1)

    def redo(self) -> None:
        """Repeat the change that was undone last."""
        self._step(1)

    def _step(self, by: int) -> None:
        steps = (*self.past, self.configs, *self.future)
        place = len(self.past) + by
        if 0 <= place < len(steps):
            with self.hold_trait_notifications():
                self.past, self.future = steps[:place], steps[place + 1 :]
                self._hold(steps[place])

    # Requests and their results

    @observe(*SUBJECT)
    def _settle(self, _: object = None) -> None:
        """Fold what is about something else than what is set; show again what is about that."""
        subject, answer = self.request().subject, self.answer
        if not answer.is_about(subject):
            folded = self.folded if answer.is_empty else folded_with(self.folded, answer)
            again = next((other for other in reversed(folded) if other.is_about(subject)), NO_ANSWER)
            self._show(again, folded)
        elif answer.subject is None and self.model is not None:  # its model was opened
            self._show(answer, self.folded)

    def _show(self, answer: Answer, folded: tuple[Answer, ...]) -> None:
        """Show an answer about what is set; `folded` are the others, whose parts may stand beside it."""
        if (result := answer.result) is not None and answer.subject is None and self.model is not None:
            subject = self.request().subject  # a person may change it meanwhile
            beside = next((other for other in folded if other.subject == subject), NO_ANSWER)
            answer = replace(answer, parts=beside.parts, forms=beside.forms)
            try:
                result.attach(subject.model, calibration=subject.calibration or None)
                answer = replace(answer, subject=subject)
            except WorkbenchError as error:  # the inputs that were measured cannot be made here
                self.run_error = error
        others = (other for other in folded if other.result is None or other.result is not answer.result)
        with self.hold_trait_notifications():
            self.folded, self.answer = tuple(other for other in others if other is not answer), answer
        if answer.subject not in (None, self.request().subject):
            self._settle()

    def set_subject(self, answer: Answer) -> None:
        """Set what an answer is about, which shows it; a model that is not known here is closed."""
        subject, result = answer.subject, answer.result
        with self.hold_trait_notifications():
            if subject is not None:
                for name in ("model", "source", "dims", "seed", "data", "calibration"):
                    setattr(self, name, getattr(subject, name))
                self.set_configs(subject.configs)
            elif result is not None:
                if self.model is not None and not is_file_of(result.record, self.model):
                    self.model = self.source = None
                self.set_configs(configs_of(result.record))

    def request(self) -> Request:
        """Return a snapshot of the panels, with the results that are about the same subject."""
        subject = Subject(source=self.source, **{name: getattr(self, name) for name in SUBJECT})
        answer = self.answer if self.answer.subject == subject else NO_ANSWER
        parts = self.answer.parts if self.answer.subject is None else answer.parts
        return Request(
            subject, self.editing, self.budget_s, self.smallest_effect, self.pacing_s,
            answer.result, answer.code, parts, self.forms, self.clock,
        )  # fmt: skip

    def request_made(self) -> Request:
        """Return the snapshot by which the further results were made, as far as there are some."""
        request = self.request()
        subject = self.answer.subject or request.subject
        return replace(request, subject=subject, forms={**self.forms, **self.answer.forms})

    def show_comparison(self, result: wb.Comparison, subject: Subject | None = None, code: str = "") -> None:
        """Put a comparison into the results; without a subject it comes from the history or a bundle.

        Then what was compared is set. A measurement that ends after something else was set is folded.
        """
        forms = self.answer.forms if self.answer.subject == subject else {}
        answer = Answer(subject, result, code, {}, forms)
        self.run_error = None
        self.remember(code)
        if subject is None:
            self.set_subject(answer)
            self.mode = "compare"
        if answer.is_about(self.request().subject):
            keeps = subject is None and not self.answer.is_empty
            self._show(answer, folded_with(self.folded, self.answer) if keeps else self.folded)
        else:
            self.folded = folded_with(self.folded, answer)

    def show_parts(self, request: Request, parts: Mapping[str, Anything], kind: str = "") -> None:
        """Put further results of a kind into the results; a comparison of the same subject holds its own."""
        beside = parts if request.comparison is None else {}
        answer = Answer(request.subject, None, "", beside, {kind: request.forms.get(kind, {})})
        with self.hold_trait_notifications():
            self.run_error = None
            if self.request().subject == request.subject:
                self.answer = answer.beside(self.answer)
            if beside and self.answer.subject != request.subject:  # it comes back with its inputs
                self.folded = folded_with(self.folded, answer)
            self.made = (*self.made, kind)

    def remember(self, code: str) -> None:
        """Keep the code of what was made here; what is made again the same way is kept once."""
        if code and code not in self.done:
            self.done = (*self.done, code)[-MOST_DONE:]

    def set_form(self, kind: str, argument: str, text: str) -> None:
        """Keep what was typed into a field of a kind; it is read when the result is made."""
        self.forms = {**self.forms, kind: {**self.forms.get(kind, {}), argument: text}}

    def took(self, name: str) -> float | None:
        """Return how long an action took last for the open model; None if it has not run to its end."""
        return None if self.model is None else self.took_s.get((name, self.model.path))

    def held_parts(self, kind: str) -> dict[str, Anything]:
        """Return the further results of a kind by label: those beside the comparison, else its own.

        One about all runs has an empty label.
        """
        named = [(*name.partition("/")[::2], part) for name, part in self.parts.items()]
        beside = {label: part for name, label, part in named if name == kind}
        if beside or self.result is None:
            return dict(sorted(beside.items()))
        labels = sorted(part.label or "" for part in self.result.parts if part.kind == kind)
        return {label: self.result.made(kind, label or None) for label in labels}

    def held_in_role(self, role: Role) -> dict[str, Anything]:
        """Return the further results, by label, of the kind that has a role; none where no feature has it."""
        kind = KINDS.in_role(role)
        return {} if kind is None else self.held_parts(kind.name)

    def whole_part(self, kind: str) -> Anything | None:
        """Return the further result of a kind about all runs; of no kind, the comparison itself."""
        return self.held_parts(kind).get("") if kind else self.result

    def has_part(self, kind: str) -> bool:
        """Return whether there is a further result of this kind, of a run or of the whole comparison."""
        held = () if self.result is None else (part.name for part in self.result.parts)
        return any(name.partition("/")[0] == kind for name in (*self.parts, *held))
