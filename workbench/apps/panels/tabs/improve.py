"""The mode improve: the proven answer, what was found and tried, and the configs that a search tried."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import follow, shown_in, use_button
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.table import TableWidget
from workbench.apps.panels.tabs.card import titled_figure
from workbench.apps.panels.tabs.findings import FindingsList
from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.drawing.words import plain
from workbench.features.tune.result import Study

_COLUMNS = [
    "label", "config", "ratio", "low", "high", "rounds", "peak_rss_bytes", "load_s", "state", "reason",
]  # fmt: skip


class SearchedConfigs:
    """Shows the study of the last improvement, or one that was put into the state."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.answer = W.HTML(), W.VBox([])
        self.table: TableWidget | None = None
        self.shown: Study | None = None
        self.is_visible = False
        self.widget = W.VBox([self.status, self.answer])
        self.state.observe(lambda _: self._draw(), names=["study", "parts", "result"])
        self.state.observe(self._new_model, names="model")
        bench.page.bridge.on["pick"] = self._pick

    def show(self) -> None:
        """Show the study, if there is one."""
        self.is_visible = True
        if self._study is None:
            self._forget()
        self._draw()

    def hide(self) -> None:
        """Take the figure and the table out of the page."""
        self.is_visible = False
        W.replace(self.answer)

    @property
    def _study(self) -> Study | None:
        searches = [part.search for part in self.state.held_parts("improvement").values()]
        study: Study | None = next((study for study in searches if study is not None), self.state.study)
        return study

    def _new_model(self, _: object) -> None:
        self.state.study = None
        self._forget()

    def _forget(self) -> None:
        self.shown, self.table = None, None
        W.replace(self.answer)

    def _draw(self) -> None:
        """Show a study that is new; one that a person takes configs from stays until the page is left."""
        study = self._study if self.is_visible else None
        if study is None or (self.answer.children and self.shown and self.shown.record == study.record):
            return
        self.shown, frame = study, study.to_frame()
        self.table = TableWidget.of_frame(frame[_COLUMNS], "Pick one to use it.", "label")
        self.table.action, self.table.on_act = "Use as B", partial(self._use_row, study)
        figure = study.figure()
        figure.update_layout(clickmode="event+select")  # a point that is clicked stands out
        title, drawn = titled_figure(figure, study.record.headline)
        heading = W.HTML(title, classes="wbp-heading")
        W.replace(self.answer, heading, drawn, self._uses(study, self.table), self.table)

    def _uses(self, study: Study, table: TableWidget) -> W.HBox:
        """Return the buttons that take the picked config, beside its name."""

        def picked() -> Config:
            return study.config(self._picked_label(study))

        uses = [use_button(self.state, place, f"Put it into {place}", picked, self.status) for place in "AB"]
        name = W.HTML(classes="wbp-sentence")

        def show() -> None:
            label = self._picked_label(study)
            config = config_in_words(study.config(label))
            name.value = text(f"{label}: {config}. A click on a point or a row picks another.")

        follow(table, show, "picked")
        return W.HBox([*uses, name], classes="wbp-tools")

    def _pick(self, point: str) -> None:
        """Pick the row of a point that was clicked in the figure."""
        with shown_in(self.status):
            if self.table is not None and self.shown is not None and self.is_visible:
                labels = [candidate.label for candidate in self.shown.record.candidates]
                self.table.picked = [label for label in labels if plain(label) == point]

    def _picked_label(self, study: Study) -> str:
        """Return the label of the picked row, by default of the best config."""
        picked = [] if self.table is None else self.table.picked
        return picked[-1] if picked else study.record.best

    def _use_row(self, study: Study, label: str) -> None:
        with shown_in(self.status):
            self.state.set_config("B", study.config(label))
            self.status.value = note_html("B is set. Press Compare to measure it.")


class ImprovePage:
    """The answer with the fixes that were tried, the configs of the search, and the findings."""

    def __init__(self, bench: Bench) -> None:
        self.findings, self.searched = FindingsList(bench), SearchedConfigs(bench)
        places = [self.findings.tried, self.searched.widget, self.findings.widget]
        self.widget = W.VBox(places, classes="wbp-page wbp-improve")

    def show(self) -> None:
        """Show what there is now."""
        self.findings.refresh()
        self.searched.show()

    def hide(self) -> None:
        """Take figures and tables out of the page."""
        self.searched.hide()
