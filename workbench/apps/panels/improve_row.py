"""The form of the mode Improve: from A, within which limits, what may vary, how long, and the one button."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.actions import Action
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow, on_change, own_changes, text_field
from workbench.apps.panels.jobs import Job
from workbench.apps.panels.request import Request
from workbench.apps.panels.run_row import start_button
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.display import config_in_words
from workbench.core.form import names, values_of
from workbench.core.text import counted
from workbench.drawing.markup import text
from workbench.features.base.registry import KINDS
from workbench.features.tune.space import Space

KIND = "improvement"
IMPROVE = "Improve"
MORE_LIMITS = "+ limit: memory, p99, file…"
_HINT = "Try what the findings propose, search around what was better, and prove the answer within the limits"
_FIRST: dict[str, tuple[str, dict[str, str]]] = {  # argument → tooltip, words → text of the field
    "max_accuracy_drop": (
        "How much accuracy the answer may cost",
        {"no accuracy": "", **{f"{percent} % accuracy": percent for percent in ("0.5", "1", "2", "5")}},
    ),
    "budget_s": (
        "How long all of it may take",
        {"3 minutes": "", "1 minute": "60", "10 minutes": "600", "30 minutes": "1800"},
    ),
}


class ImproveRow:
    """Sets the form of the kind `improvement` and runs it."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.start = W.HTML(), W.HTML()
        self.press = start_button(bench, IMPROVE, _HINT, lambda: bench.run(KIND), self.status)
        self.fields = {
            argument: W.Dropdown(options=[*options.items()], tooltip=tooltip)
            for argument, (tooltip, options) in _FIRST.items()
        }
        loss, time = self.fields.values()
        hint = "Limits of time, memory and size, and what may vary"
        self.more = button(MORE_LIMITS, hint, self._unfold, self.status, classes="wbp-quiet-link")
        self.may_vary = MayVary(bench, self.status)
        self.further = W.VBox([])
        words = [W.HTML("giving up"), loss, W.HTML("within"), time, self.more]
        self.widget = W.VBox(
            [W.HBox([self.start, *words, self.press], classes="wbp-improve-row"), self.further, self.status],
            classes="wbp-configs",
        )
        for argument, field in self.fields.items():
            on_change(field, partial(self.state.set_form, KIND, argument))
        follow(self.state, self._show, "forms", "a")

    def _unfold(self) -> None:
        """Show the further limits, made when they are first asked for, or fold them again."""
        if not self.further.children:
            self._make_further()
        else:
            W.set_shown(self.further, self.further.layout.display == "none")

    def _make_further(self) -> None:
        fields = {
            field.argument: text_field(field, partial(self.state.set_form, KIND, field.argument), self.status)
            for field in KINDS.named(KIND).form
            if field.argument not in {*self.fields, "without"}
        }
        self.fields |= fields
        limits = W.HBox([*fields.values()], classes="wbp-tools")
        self.further.children = (limits, self.may_vary.widget)
        self._show()

    def _show(self) -> None:
        self.start.value = f"Starting from <b data-label=A>A</b> {text(config_in_words(self.state.a), 60)}"
        texts = self.state.forms.get(KIND, {})
        if not self.further.children and any(
            value for name, value in texts.items() if name not in self.fields
        ):
            self._make_further()  # a limit that is set is in view
            return
        with own_changes():
            for argument, field in self.fields.items():
                value = texts.get(argument, "")
                if isinstance(field, W.Dropdown) and value not in [held for _, held in field.options]:
                    field.options = (*field.options, (value, value))
                field.value = value


class MayVary:
    """The settings of the default space; one without a check may not vary."""

    def __init__(self, bench: Bench, status: W.HTML) -> None:
        self.state = bench.state
        hint = "Find the settings that may pay for this model here, to leave some out"
        self.find = button("What may vary", hint, lambda: bench.start(FIND_SPACE), status, idle=self.state)
        self.size, self.axes = W.HTML(), W.HBox([], classes="wbp-tools")
        self.checks: dict[str, W.Checkbox] = {}
        self.widget = W.VBox([W.HBox([self.find, self.size], classes="wbp-tools"), self.axes])
        follow(self.state, self._offer, "space")
        self.state.observe(lambda _: setattr(self.state, "space", None), names="model")

    def _offer(self) -> None:
        """Show a check box for each axis; what was left out stays so."""
        space = self.state.space
        left_out = names(self.state.forms.get(KIND, {}).get("without", ""))
        self.checks = {
            axis.name: W.Checkbox(
                axis.name not in left_out, description=f"{axis.name} ({len(axis.options)})", indent=False
            )
            for axis in (() if space is None else space.axes)
        }
        for check in self.checks.values():
            on_change(check, lambda _: self._leave_out())
        W.replace(self.axes, *self.checks.values())
        self._count()

    def _leave_out(self) -> None:
        """Keep the names without a check in the form of the kind."""
        left_out = ", ".join(name for name, check in self.checks.items() if not check.value)
        self.state.set_form(KIND, "without", left_out)
        self._count()

    def _count(self) -> None:
        space, left_out = self.state.space, self.state.forms.get(KIND, {}).get("without", "")
        words = f"as in A: {left_out}" if left_out else ""
        if space is not None:
            rest = space.without(*(name for name, check in self.checks.items() if not check.value))
            words = f"{counted(len(rest.moves), 'change')}, {counted(len(rest), 'combination')}"
        self.size.value = text(words)


def find_space(request: Request, job: Job) -> Space:
    """Return what may pay for the model here, within the limits of the form."""
    from workbench.features.tune.call import default_space  # loads slowly

    subject, improvement = request.subject, KINDS.named(KIND)
    _, options = improvement.arguments(None, (), values_of(improvement.form, request.forms.get(KIND, {})))
    return default_space(
        subject.model, base=subject.a, limits=options.get("limits"), inputs=subject.inputs(),
        calibration=subject.calibration or None, seed=subject.seed, cancel=job.cancel, on_step=job.step,
    )  # fmt: skip


def keep_space(state: BenchState, request: Request, space: Space) -> None:
    """Offer the space, unless another model was opened meanwhile."""
    if request.subject.model is state.model:
        with state.hold_trait_notifications():
            state.run_error, state.space = None, space


FIND_SPACE = Action("What may vary", find_space, keep_space)
