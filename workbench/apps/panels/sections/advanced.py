"""All other entries of a session and a run."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.options import Options, known_options
from workbench.apps.panels.sections.section import Section
from workbench.core.config import Config
from workbench.core.config.plan import AFFINITY, SPINNING


class AdvancedSection(Section):
    """Entries of the session and of every run, found in the catalogue or typed in."""

    def build(self) -> list[W.Widget]:
        hidden = (*SPINNING, AFFINITY)  # these have knobs of their own
        self.session = Options(known_options("session", hidden=hidden), partial(self.set, "session_entries"))
        self.run = Options(known_options("run"), partial(self.set, "run_entries"))
        session, run = W.HTML("<b>session entries</b>"), W.HTML("<b>run entries</b>")
        return [*super().build(), session, self.session.widget, run, self.run.widget]

    def show(self, config: Config) -> None:
        super().show(config)
        self.session.show(dict(config.session_entries))
        self.run.show(dict(config.run_entries))
