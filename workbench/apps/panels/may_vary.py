"""What may vary when a config is improved: a check box for each setting that may pay for the model here."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.actions import Action
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow, on_change
from workbench.apps.panels.jobs import Job
from workbench.apps.panels.markup import text
from workbench.apps.panels.request import Request
from workbench.apps.panels.state import BenchState
from workbench.core.form import names, values_of
from workbench.core.text import counted
from workbench.features.base.registry import KINDS
from workbench.features.tune.space import Space

KIND = "improvement"


class MayVary:
    """The settings of the default space; one without a check may not vary."""

    def __init__(self, bench: Bench, status: W.HTML) -> None:
        self.bench, self.state = bench, bench.state
        hint = "Find the settings that may pay for this model here, to leave some out"
        self.find = button("What may vary", hint, self._find, status)
        self.size, self.axes = W.HTML(), W.HBox([], classes="wbp-tools")
        self.checks: dict[str, W.Checkbox] = {}
        self.widget = W.VBox([W.HBox([self.find, self.size], classes="wbp-tools"), self.axes])
        follow(self.state, self._offer, "space")
        follow(self.state, self._enable, "job")
        self.state.observe(lambda _: setattr(self.state, "space", None), names="model")

    def _find(self) -> None:
        self.bench.start(Action("What may vary", find_space, keep_space))

    def _enable(self) -> None:
        self.find.disabled = self.state.job is not None

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
        self.axes.children = tuple(self.checks.values())
        self._count()

    def _leave_out(self) -> None:
        """Keep the names without a check in the form of the kind."""
        left_out = ", ".join(name for name, check in self.checks.items() if not check.value)
        forms = self.state.forms
        self.state.forms = {**forms, KIND: {**forms.get(KIND, {}), "without": left_out}}
        self._count()

    def _count(self) -> None:
        space = self.state.space
        if space is None:
            self.size.value = ""
            return
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


def keep_space(state: BenchState, _: Request, space: Space) -> None:
    """Offer the space."""
    with state.hold_trait_notifications():
        state.run_error, state.space = None, space
