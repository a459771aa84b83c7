"""The form of the mode Improve: from A, within which limits, what may vary, how long, and the one button."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import workbench as wb
from workbench.apps.panels import widgets as W
from workbench.apps.panels.actions import Action
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow, on_change, own_changes
from workbench.apps.panels.jobs import Job
from workbench.apps.panels.request import Request
from workbench.apps.panels.run_row import start_button
from workbench.apps.panels.state import SUBJECT, BenchState
from workbench.apps.panels.tabs.form import form_fields
from workbench.core.bundle.display import config_in_words
from workbench.core.feature import Feature
from workbench.core.form import names
from workbench.drawing.markup import text
from workbench.features.base.registry import KINDS

MORE_LIMITS = "+ limit: memory, p99, file…"


class ImproveRow:
    """Sets the form of the kind that improves and runs it; choices stand in a sentence, the rest unfolds."""

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.status, self.start = W.HTML(), W.HTML()
        self.kind = kind = improving()
        self.press = start_button(bench, kind.button, kind.hint, lambda: bench.run(kind.name), self.status)
        self.fields = form_fields(self.state, kind.name, self.status)
        loss, time = (self.fields[field.argument] for field in kind.form if field.choices)
        self.limits = [self.fields[field.argument] for field in kind.form if not field.choices]
        self.texts: list[str] = []  # of the limits, when they were unfolded last
        hint = "Limits of time, memory and size, and what may vary"
        self.more = button(MORE_LIMITS, hint, self._unfold, self.status, classes="wbp-quiet-link")
        self.may_vary = MayVary(bench, self.fields["without"], self.status)
        limits = W.HBox(self.limits, classes="wbp-tools")
        self.further = W.VBox([limits, self.may_vary.widget], layout=W.Layout(display="none"))
        sentence = [self.start, W.HTML("giving up"), loss, W.HTML("within"), time, self.more, self.press]
        row = W.HBox(sentence, classes="wbp-improve-row")
        self.widget = W.VBox([row, self.further, self.status], classes="wbp-configs")
        follow(self.state, self._show, "forms", "configs")

    def _unfold(self) -> None:
        """Show the further limits, or fold them again."""
        W.set_shown(self.further, self.further.layout.display == "none")

    def _show(self) -> None:
        """Show where it starts, and the further limits if one is set."""
        start = text(config_in_words(self.state.configs["A"]), 60)
        self.start.value = f"Starting from <b data-label=A>A</b> {start}"
        texts = [field.value for field in self.limits]
        if texts != self.texts and any(texts):
            W.set_shown(self.further, True)
        self.texts = texts


class MayVary:
    """The settings of the default space; those without a check stand in the field of what may not vary."""

    def __init__(self, bench: Bench, field: W.TextField, status: W.HTML) -> None:
        self.state, self.field = bench.state, field
        search = partial(bench.start, Action("What may vary", find_space, self.keep))
        hint = "Find the settings that may pay for this model here, to leave some out"
        self.find = button("What may vary", hint, search, status, idle=bench.state)
        self.size, self.axes = W.HTML(classes="wbp-words"), W.HBox([], classes="wbp-tools")
        self.space: wb.Space | None = None
        self.about: object = None  # what the space was found for
        self.checks: dict[str, W.Checkbox] = {}
        self.widget = W.VBox([W.HBox([self.find, self.size], classes="wbp-tools"), self.axes])
        bench.state.observe(lambda _: self._forget(), names=[*SUBJECT, "forms"])
        field.observe(lambda _: self._show(), names="value")

    def keep(self, state: BenchState, request: Request, space: wb.Space) -> None:
        """Offer a space that was found, unless something else was set meanwhile."""
        if (about := space_subject(request)) == space_subject(state.request()):
            self._offer(space, about)

    def _forget(self) -> None:
        """Offer nothing where the space was found for another model, another A or other limits."""
        if self.space is not None and self.about != space_subject(self.state.request()):
            self._offer(None)

    def _offer(self, space: wb.Space | None, about: object = None) -> None:
        self.space, self.about, self.checks = space, about, {}
        for axis in () if space is None else space.axes:
            check = W.Checkbox(description=f"{axis.name} ({len(axis.options)})", indent=False)
            on_change(check, partial(self._let_vary, axis.name))
            self.checks[axis.name] = check
        W.replace(self.axes, *self.checks.values())
        self._show()

    def _let_vary(self, name: str, varies: bool) -> None:
        others = [other for other in names(self.field.value) if other != name]
        self.field.value = ", ".join(others if varies else [*others, name])

    def _show(self) -> None:
        """Check what may vary, and count what there is to try."""
        left_out = [name for name in names(self.field.value) if name in self.checks]
        with own_changes():
            for name, check in self.checks.items():
                check.value = name not in left_out
        self.size.value = "" if self.space is None else self.space.without(*left_out).size_in_words


def improving() -> Feature:
    """Return the kind that improves a config."""
    offer = KINDS.in_role("improves")
    assert offer is not None
    return KINDS.named(offer.name)


def space_subject(request: Request) -> tuple[object, ...]:
    """Return what a space is found for: the subject with A alone, and the texts of the limits."""
    limits = {**request.forms.get(improving().name, {}), "without": "", "budget_s": ""}  # these two are none
    return replace(request.subject, configs={"A": request.subject.configs["A"]}), limits


def find_space(request: Request, job: Job) -> wb.Space:
    """Return what may pay for the model here, within the limits of the form."""
    subject, improvement = request.subject, improving()
    _, options = improvement.arguments(None, (), request.options(improvement))
    return wb.default_space(
        subject.model, base=subject.configs["A"], limits=options.get("limits"), inputs=subject.inputs(),
        calibration=subject.calibration or None, seed=subject.seed, cancel=job.cancel, on_step=job.step,
    )  # fmt: skip
