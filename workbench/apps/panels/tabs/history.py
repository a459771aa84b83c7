"""The mode results: every result made here, to find, open, pin, note, list side by side, delete."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import workbench as wb
from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import buttons_of, error_to, follow, on_change, own_changes, shown_in
from workbench.apps.panels.request import labelled
from workbench.apps.panels.table import TableWidget
from workbench.apps.panels.tabs.card import CardWidget
from workbench.apps.panels.task_thread import import_shared
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.entries import PIN, Entry, clock_text, split_note
from workbench.core.errors import WorkbenchError
from workbench.core.text import counted
from workbench.drawing.card import part_card
from workbench.drawing.markup import note_html
from workbench.features.base.history import History
from workbench.features.base.history_rows import SHOWN_COLUMNS, read_words, rows_of
from workbench.features.compare import kept

_EMPTY = '<div class="wbp-empty">Nothing yet: comparisons and explanations are kept and listed here.</div>'
_HEADS = {"what": "A → B", "pin": PIN}
_BESIDE = "Measured at different times, so without a verdict: only runs measured in turns can be compared."
_PICK = "Open a result, or pick its row for more. Ctrl and a click pick several, to put side by side."
_TWO = "Compare these two"
PAGE = 200  # entries that are listed at once


class HistoryPage:
    """A table of the history, with buttons for its picked rows."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.status, self.list, self.beside = W.HTML(), W.VBox([]), W.VBox([])
        self.table: TableWidget | None = None
        self.entries: list[Entry] = []
        self.words: dict[str, str] = {}  # what was compared, by id; read once
        self.skipped = 0  # entries that are newer than those of the page
        self.to_delete: list[str] = []  # the ids that were picked when Delete was pressed
        self.buttons = buttons_of(
            self.status,
            ("Open", "Show the picked result", lambda: self._open(self.picked[-1].id)),
            ("Use as A", "Its B or only run becomes A, the baseline of what comes next", self._baseline),
            (_TWO, f"Set the configs of two results of a model as A and B. {_BESIDE}", self._set_two),
            ("Side by side", "The picked comparisons in one table", self._side_by_side),
            ("Pin", "Keep the picked entries on top, or no longer", self._pin),
            ("Delete", "Delete the picked entries for good", self._ask_delete),
        )
        sure = ("Yes, delete", "This cannot be undone", self._delete)
        (self.sure,) = buttons_of(self.status, sure).values()
        self.note = self._field("note", "A note of the picked entry, kept with it", self._annotate)
        hint = "Bundles of others in a shared folder, which are only read"
        self.folder = self._field("folder of a team", hint, self._choose_folder)
        hint = "A text anywhere in an entry of any age"
        self.find = self._field("find in all results", hint, lambda _: self._turn(-self.skipped))
        self.turns = buttons_of(
            self.status,
            ("Newer", "The page of newer entries", lambda: self._turn(-PAGE)),
            ("Older", "The page of older entries", lambda: self._turn(PAGE)),
        )
        search = W.HBox([self.find, self.folder, *self.turns.values()], classes="wbp-tools")
        self.hint = W.HTML(note_html(_PICK), classes="wbp-words")
        acts = W.HBox([self.hint, *self.buttons.values(), self.note, self.sure], classes="wbp-tools wbp-acts")
        self.widget = W.VBox([search, acts, self.status, self.beside, self.list], classes="wbp-page")
        self._enable()

    def _field(self, words: str, hint: str, changed: Callable[[str], object]) -> W.TextField:
        made = W.TextField(placeholder=words, tooltip=hint)
        on_change(made, changed, status=self.status)
        return made

    def show(self) -> None:
        """Read the history and list it; what was compared is read in the background."""
        W.set_shown(self.sure, False)  # the question was about another list
        with shown_in(self.status):
            caption = self._read_page()
            heads, at = [_HEADS.get(name, name) for name in SHOWN_COLUMNS], SHOWN_COLUMNS.index("id")
            self.table = TableWidget.of_rows(heads, (), caption, key=at, hidden=at, under=1, action="Open")
            self.table.on_act = self._open
            self._fill({})
            follow(self.table, self._enable, "picked")
            W.replace(self.list, self.table if self.entries or self.find.value else W.HTML(_EMPTY))
            unread = [entry.id for entry in self.entries
                      if entry.kind == "comparison" and entry.id not in self.words]  # fmt: skip
            if unread:
                words = partial(read_words, self._history(), unread)
                self.bench.in_background(words, self._fill, error_to(self.status))

    def _history(self) -> History:
        """Return the history of this machine, or that of the folder that was typed."""
        return wb.history(self.folder.value.strip() or None)

    def _choose_folder(self, _folder: str) -> None:
        """List another history; the bundles of a folder are read in the background the first time."""
        self.skipped, self.words = 0, {}
        self.bench.in_background(partial(len, self._history()), lambda _: self.show(), error_to(self.status))

    def _read_page(self) -> str:
        """Read the entries of this page, on the first one also those that are pinned; return a caption."""
        history, text = self._history(), self.find.value.strip() or None
        page = history.entries(text=text, most=PAGE + 1, skip=self.skipped)
        self.turns["Newer"].disabled, self.turns["Older"].disabled = self.skipped == 0, len(page) <= PAGE
        pinned = [] if self.skipped else history.entries(text=text, note=PIN, most=PAGE)
        self.entries = list({entry.id: entry for entry in (*page[:PAGE], *pinned)}.values())
        if self.skipped == 0 and len(page) <= PAGE:
            return ""
        count = len(history) if text is None else len(history.entries(text=text))
        return f"{self.skipped + 1:,} to {self.skipped + len(page[:PAGE]):,} of {count:,}."

    def _turn(self, entries: int) -> None:
        self.skipped = max(0, self.skipped + entries)
        self.show()

    def _fill(self, words: dict[str, str]) -> None:
        """Show the rows, with what was compared in those that were read meanwhile."""
        assert self.table is not None
        self.words |= words
        self.table.fill(rows_of(self.entries, self.words))

    def _enable(self) -> None:
        """Offer what can be done with the picked entries; what was opened before makes room."""
        W.replace(self.beside)
        picked, is_only_read = self._picked, bool(self.folder.value.strip())
        W.set_shown(self.hint, not picked)
        for name, pressed in self.buttons.items():
            writes = name in ("Pin", "Delete")
            pressed.disabled = len(picked) < (2 if name == "Side by side" else 1) or (writes and is_only_read)
        models = {entry.model_sha256 for entry in picked}
        of_one_model = (len(picked), len(models)) == (2, 1) and models != {""}
        self.buttons[_TWO].disabled = not of_one_model or picked[0].kind != "comparison"  # which is shown
        self.note.disabled = len(picked) != 1 or is_only_read
        for tool in (*self.buttons.values(), *self.turns.values(), self.note):
            W.set_shown(tool, not tool.disabled)
        with own_changes():
            self.note.value = split_note(picked[0].note)[1] if len(picked) == 1 else ""

    def hide(self) -> None:
        """Take the list and what was opened out of the page."""
        for box in (self.list, self.beside):
            W.replace(box)

    @property
    def _picked(self) -> list[Entry]:
        chosen = self.table.chosen if self.table else ()
        return [entry for identity in chosen for entry in self.entries if entry.id == identity]

    @property
    def picked(self) -> list[Entry]:
        """The picked entries in the order in which they were picked, at least one."""
        if picked := self._picked:
            return picked
        raise WorkbenchError("Nothing is picked.", "Click a row of the table, or move to it and press Enter.")

    def _open(self, identity: str) -> None:
        with shown_in(self.status):
            opened = kept.kept_result(self._history(), identity)
            if isinstance(opened, wb.Comparison):
                self.bench.show(opened)
                when = clock_text(opened.record.created_utc)
                self.status.value = note_html(f"{opened.record.model.name}, {when}, is shown in the results.")
                return
            code, kind = kept.opening_code(self._history(), identity), opened.feature.name
            card = CardWidget(self.bench, part_card(kind, "", opened, code, part=""))
            W.replace(self.beside, card.widget)
            card.place_menu(inside=True)
            card.show()

    def _baseline(self) -> None:
        self.bench.a = kept.kept_config(self._history(), self.picked[-1].id)
        self.status.value = note_html(f"A is set: {config_in_words(self.bench.a)}.")

    def _set_two(self) -> None:
        """Set A and B to the configs of two picked results of a model, and open it if it is here."""
        configs = labelled(kept.kept_config(self._history(), entry.id) for entry in self.picked)
        self.bench.show(kept.kept_comparison(self._history(), self.picked[0].id))
        self.bench.ui.post(partial(self.bench.state.set_configs, configs))  # where its model is set
        self.status.value = note_html(f"A and B are set. {_BESIDE}")

    def _pin(self) -> None:
        """Pin the picked entries; those that all are pinned are pinned no longer."""
        pinned = all(split_note(entry.note)[0] for entry in self.picked)
        self._history().pin(*(entry.id for entry in self.picked), pinned=not pinned)
        self.show()

    def _annotate(self, note: str) -> None:
        self._history().annotate(self.picked[0].id, note)
        self.show()

    def _side_by_side(self) -> None:
        import_shared()
        table = kept.runs_frame(self._history(), self.picked)
        W.replace(self.beside, TableWidget.of_frame(table, _BESIDE))

    def _ask_delete(self) -> None:
        self.to_delete = [entry.id for entry in self.picked]
        self.status.value = note_html(f"Delete {counted(len(self.to_delete), 'entry', 'entries')} for good?")
        W.set_shown(self.sure, True)

    def _delete(self) -> None:
        self._history().delete(*self.to_delete)
        self.show()
        self.status.value = note_html("Deleted.")
