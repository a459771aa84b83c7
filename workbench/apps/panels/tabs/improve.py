"""The mode improve: the proven answer, what was found and tried, and the configs that a search tried."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import follow, shown_in, use_button
from workbench.apps.panels.table import TableWidget
from workbench.apps.panels.tabs.card import titled_figure
from workbench.apps.panels.tabs.findings import FindingsList
from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.drawing.card import ConfigUse
from workbench.drawing.markup import text
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
        self.uses: list[W.Button] = []
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
        self.table.action, self.table.on_act = "Use as B", self._use_row
        figure = study.figure()
        figure.update_layout(clickmode="event+select")  # a point that is clicked stands out
        title, drawn = titled_figure(figure, study.record.headline)
        offers = (ConfigUse(place, "", f"Put it into {place}", lambda _: self._picked()[1]) for place in "AB")
        self.uses = [use_button(self.state, offer, self.status) for offer in offers]
        name = W.HTML(classes="wbp-sentence")
        follow(self.table, lambda: self._tell(name), "picked")
        row = W.HBox([*self.uses, name], classes="wbp-tools")
        W.replace(self.answer, W.HTML(title, classes="wbp-heading"), drawn, row, self.table)

    def _picked(self) -> tuple[str, Config]:
        """Return the label and the config of the picked row, by default of the best config."""
        assert self.shown is not None
        assert self.table is not None
        label = [self.shown.record.best, *self.table.picked][-1]
        return label, self.shown.config(label)

    def _tell(self, name: W.HTML) -> None:
        label, config = self._picked()
        name.value = text(f"{label}: {config_in_words(config)}. A click on a point or a row picks another.")

    def _pick(self, point: str) -> None:
        """Pick the row of a point that was clicked in the figure."""
        with shown_in(self.status):
            if self.table is not None and self.shown is not None and self.is_visible:
                labels = [candidate.label for candidate in self.shown.record.candidates]
                self.table.picked = [label for label in labels if plain(label) == point]

    def _use_row(self, label: str) -> None:
        assert self.table is not None
        self.table.picked = [label]
        self.uses[-1].click()


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
