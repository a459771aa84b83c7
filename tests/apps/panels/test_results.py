"""The results column without a browser: tabs, tables, the linked selection, pinning, the history."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import ipywidgets as W
import nbformat
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

import workbench as wb
from tests.apps.panels.conftest import line_of, settle
from tests.apps.widgets import single
from tests.factories import results as examples
from tests.factories.comparisons import HOSTILE, ordinary
from workbench.apps.panels.handlers import link_selection
from workbench.apps.panels.layout import Layout
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.table import TableWidget, WithDrawer, cell
from workbench.apps.panels.tabs.card import CardWidget, titled_figure
from workbench.apps.panels.tabs.history import HistoryPage
from workbench.apps.panels.tabs.share import Share
from workbench.apps.panels.tabs.tab import TabPage
from workbench.core.errors import Cancelled
from workbench.core.text import file_name
from workbench.drawing.cell import PLOTLY
from workbench.features.base.registry import KINDS

EXPLORE = "Explore"


def shown(name: str = "tiny") -> wb.Workbench:
    """A bench with a hand-made comparison in its results."""
    record = ordinary()
    bench = wb.Workbench()
    assert bench.panels
    bench.show(wb.Comparison(replace(record, model=replace(record.model, name=name))))
    settle(bench)
    return bench


def page(bench: wb.Workbench, title: str = "Timing") -> TabPage:
    made: Any = bench.panels.results.pages[title]
    return made


def only(card: CardWidget) -> W.Widget:
    (widget,) = card.body.children
    return widget


def figure_of(latency: TabPage) -> Any:
    """The figure of the samples; the numbers stand below."""
    return single(latency.cards["samples"].body, W.Output)


def test_a_result_is_drawn_in_the_selected_tab_alone() -> None:
    bench = shown()
    latency = page(bench)
    assert list(latency.cards) == ["samples", "cumulative", "over time"]
    output = figure_of(latency)
    assert output.outputs[0]["data"][PLOTLY]["data"]
    assert not latency.cards["cumulative"].body.children, "a card that nobody looks at is not drawn"
    bench.panels.results.turn("What ORT did")
    assert latency.content.children == ()
    line = line_of(page(bench, "What ORT did"), "explanation")
    assert line.run.description.startswith("Explain A and B")


def test_a_figure_follows_the_width_of_its_place() -> None:
    output = figure_of(page(shown()))
    assert output.outputs[0]["data"][PLOTLY]["config"] == {"responsive": True, "displayModeBar": False}


def test_every_figure_has_its_table() -> None:
    bench = shown()
    latency = page(bench)
    for title in latency.cards:
        latency.choose(title)
        card = latency.cards[title]
        settle(bench)
        if not isinstance(only(card), TableWidget):
            card.turn.click()
            settle(bench)
        table = only(card)
        assert isinstance(table, TableWidget)
        assert table.rows


def test_a_node_that_is_selected_in_one_view_is_selected_in_all() -> None:
    bench = wb.Workbench()
    frame = pd.DataFrame({"node": ["first", "second"], "time_s": [0.001, 0.002]})
    first, second = (TableWidget.of_frame(frame, "nodes", "node") for _ in range(2))
    link_selection(bench.state, first, "picked")
    link_selection(bench.state, second, "picked")
    first.picked = ["second"]
    assert second.picked == ["second"]
    assert bench.state.selected == ("second",)


def test_long_names_that_begin_alike_are_told_apart() -> None:
    bench, start = wb.Workbench(), "n" * 300
    names = [f"{start}/first", f"{start}/second", "short", f"{start}/first", "a\nb", "a b"]
    frame = pd.DataFrame({"node": names, "time_s": 0.001})
    of_frame = TableWidget.of_frame(frame, "nodes", "node")
    of_rows = TableWidget.of_rows(("node",), [(name,) for name in names], "nodes", key=0)
    for table in (of_frame, of_rows):
        first, second, short, again, *broken = [row[0] for row in table.rows]
        assert first == again
        assert len({first, second, short, *broken}) == 5
        assert all(len(row[0]) < 310 for row in table.rows)
        assert short == "short"
        link_selection(bench.state, table, "chosen")
        table.picked = [second]
        assert bench.state.selected == (names[1],)
        bench.state.selected = (names[0], "short", "a\nb")
        assert table.picked == [first, "short", broken[0]]
        table.picked = []


def test_the_details_of_a_long_name_are_its_own() -> None:
    names, asked = [f"{'n' * 300}/{place}" for place in range(2)], list[str]()

    def details(name: str) -> list[W.Widget]:
        asked.append(name)
        return []

    table = TableWidget.of_rows(("node",), [(name,) for name in names], "nodes", key=0)
    shown = WithDrawer(BenchState(), table, details)
    table.picked = [table.rows[1][0]]
    assert asked == [names[1]]
    shown.close()


def test_a_table_shows_units_and_what_is_absent() -> None:
    frame = pd.DataFrame(
        {"node": ["x"], "self_s": [0.0025], "peak_bytes": [2**20], "runs_per_s": [3.0], "no": [None]}
    )
    table = TableWidget.of_frame(frame, "a table", "node")
    assert [column["name"] for column in table.columns] == [
        "node",
        "self (ms)",
        "peak (MiB)",
        "runs per s",
        "no",
    ]
    assert [column["digits"] for column in table.columns] == [4, 3, 3, 4, 4]
    assert table.rows == [["x", 2.5, 1.0, 3.0, None]]
    assert json.loads(json.dumps(table.rows)) == table.rows


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        (float("inf"), "inf"),
        (2**60, str(2**60)),
        (True, "yes"),
        (("a", "b"), "a, b"),
    ],
)
def test_a_cell_is_a_number_or_a_line_or_nothing(value: object, expected: object) -> None:
    assert cell(value) == expected


def test_a_cell_has_room_for_no_number_of_thousands_of_digits() -> None:
    assert cell(10**5000) == "an integer of 16,610 bits"


def test_a_table_of_many_rows_is_cut_and_says_so() -> None:
    table = TableWidget.of_frame(pd.DataFrame({"n": range(12_000)}), "many")
    assert (len(table.rows), table.total) == (5_000, 12_000)


def test_the_name_of_a_strangers_model_becomes_the_name_of_a_file() -> None:
    assert shown(HOSTILE).panels.results.sharing.name == file_name(HOSTILE)
    assert "/" not in file_name("../../etc/passwd")


def test_pinning_asks_the_page_for_a_cell() -> None:
    bench = shown()
    asked: list[dict[str, Any]] = []
    bench.page.bridge.send = lambda content, _=None: asked.append(content)
    card = page(bench).cards["samples"]
    card.pin.click()
    settle(bench)
    assert asked[0]["kind"] == "cell"
    assert asked[0]["root"] == bench.panels.root.model_id
    scope_code = asked[0]["source"]
    assert scope_code.startswith("import workbench as wb")
    assert scope_code.endswith("result.latency_figure()")
    data = asked[0]["outputs"][0]["data"]
    assert "text/html" not in data
    assert data["text/plain"]
    bench.page.bridge.answer(None, {"id": asked[0]["id"], "failed": "no notebook within reach"}, None)
    settle(bench)
    assert "Not pinned" in card.status.value
    assert "Run this in a cell" in card.status.value


def test_the_verdict_is_pinned_with_its_picture() -> None:
    bench = shown()
    asked: list[dict[str, Any]] = []
    bench.page.bridge.send = lambda content, _=None: asked.append(content)
    bench.panels.results.sharing.choose("cell")
    settle(bench)
    assert {"image/png", "text/plain"} <= asked[0]["outputs"][0]["data"].keys()


@pytest.mark.usefixtures("own_home")
def test_the_history_is_listed_opened_put_side_by_side_and_deleted() -> None:
    record = ordinary()
    for number in range(2):
        wb.history().add(replace(record, id=f"2026010{number}-000000-abcdef"))
    bench = wb.Workbench()
    assert isinstance(bench.panels, Layout)
    history = HistoryPage(bench)
    history.show()
    assert history.table is not None
    assert history.table.total == 2
    history.buttons["Open"].click()
    assert "Nothing is picked" in history.status.value
    first, second = (row[-1] for row in history.table.rows)
    assert all(button.disabled for button in history.buttons.values())
    history.table.received(history.table, {"act": second}, [])
    assert bench.result.record.id == second
    history.table.picked = [first]
    assert not history.buttons["Open"].disabled
    assert history.buttons["Side by side"].disabled
    assert {name for name, button in history.buttons.items() if button.layout.display != "none"} == {
        "Open", "Use as A", "Pin", "Delete",
    }  # fmt: skip
    history.buttons["Open"].click()
    assert bench.result.record.id == first
    assert "wb.history().open" in bench.code("result")
    assert bench.b == record.runs[1].config
    history.table.picked = [first, second]
    assert not history.buttons["Side by side"].disabled
    history.buttons["Side by side"].click()
    (beside,) = history.beside.children
    assert beside.total == 4
    assert beside.columns[0]["name"] == "when"
    history.table.picked = [first]
    assert not history.beside.children, "it makes room for what is picked next"
    history.table.picked = [first, second]
    history.buttons["Delete"].click()
    history.sure.click()
    assert len(wb.history()) == 0


@pytest.mark.usefixtures("own_home")
def test_an_empty_history_says_so() -> None:
    history = HistoryPage(wb.Workbench())
    history.show()
    assert history.status.value == ""
    (note,) = history.list.children
    assert "Nothing yet" in note.value


@pytest.mark.usefixtures("own_home")
def test_the_history_refuses_a_picked_result_that_is_no_comparison() -> None:
    wb.Peaks(examples.peaks(), examples.about()).keep()
    history = HistoryPage(wb.Workbench())
    history.show()
    assert history.table is not None
    history.table.picked = [row[-1] for row in history.table.rows]
    history.buttons["Side by side"].click()
    assert "is no comparison" in history.status.value
    assert "show it in a cell" in history.status.value


@pytest.mark.usefixtures("own_home")
def test_a_row_picked_after_delete_was_pressed_is_not_deleted() -> None:
    for number in range(2):
        wb.history().add(replace(ordinary(), id=f"2026010{number}-000000-abcdef"))
    history = HistoryPage(wb.Workbench())
    history.show()
    assert history.table is not None
    first, second = (row[-1] for row in history.table.rows)
    history.table.picked = [first]
    history.buttons["Delete"].click()
    history.table.picked = [first, second]
    history.sure.click()
    assert [entry.id for entry in wb.history().entries()] == [second]


Sent = list[tuple[dict[str, Any], Any]]


def sharing(bench: wb.Workbench, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Share, Sent]:
    """Return the menu of a notebook in this folder, and what its page is asked for."""
    sent: Sent = []
    monkeypatch.chdir(folder)
    bench.page.bridge.send = lambda content, buffers=None: sent.append((content, buffers))
    return bench.panels.results.sharing, sent


def test_a_bundle_is_saved_beside_the_notebook_and_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = shown()
    share, sent = sharing(bench, tmp_path, monkeypatch)
    share.choose("bundle")
    settle(bench)
    assert f"Saved as {tmp_path / 'tiny.ortbench'}" in share.status.value
    assert wb.open(tmp_path / "tiny.ortbench").record == bench.result.record
    assert sent[0][0]["name"] == "tiny.ortbench"


@pytest.mark.usefixtures("without_plotly")
def test_a_page_is_written_beside_the_notebook_and_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = shown()
    share, sent = sharing(bench, tmp_path, monkeypatch)
    share.choose("page")
    assert share.menu.locked, "one at a time"
    job = bench.jobs.running
    assert job is not None
    job.finished.wait()
    settle(bench)
    (asked, (data,)) = sent[0]
    assert (asked["kind"], asked["name"], asked["mime"]) == ("download", "tiny.html", "text/html")
    assert (tmp_path / "tiny.html").read_bytes() == data
    assert data.lstrip().lower().startswith(b"<!doctype html")
    bench.page.bridge.answer(None, {"id": asked["id"], "ok": True}, None)
    settle(bench)
    assert "tiny.html is in your downloads" in share.status.value
    assert not share.menu.locked


@pytest.mark.usefixtures("coarse")
def test_data_are_written_into_a_new_folder_and_offered_as_a_zip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = shown()
    share, sent = sharing(bench, tmp_path, monkeypatch)
    for name in ("tiny-data", "tiny-data-2"):
        share.choose("data")
        settle(bench)
        assert "Written as" in share.status.value
        asked, (data,) = sent[-1]
        assert (asked["kind"], asked["name"]) == ("download", f"{name}.zip")
        files = {path.relative_to(tmp_path).as_posix() for path in (tmp_path / name).rglob("*.*")}
        zipped = {entry.filename for entry in ZipFile(BytesIO(data)).infolist() if not entry.is_dir()}
        assert zipped == files >= {f"{name}/index.json"}
    exported = wb.open(tmp_path / "tiny-data" / "result.ortbench")
    assert exported.record == bench.result.record


def test_a_picture_and_a_notebook_are_downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = shown()
    share, sent = sharing(bench, tmp_path, monkeypatch)
    share.choose("picture")
    settle(bench)
    assert sent[0][1][0].startswith(b"\x89PNG")
    share.choose("notebook")
    asked, (data,) = sent[1]
    assert asked["name"] == "tiny.ipynb"
    book = nbformat.reads(data.decode(), as_version=4)
    nbformat.validate(book)
    assert book.cells[-1].source == bench.code("result")


def test_code_and_server_open_below_the_menu_and_close_again() -> None:
    bench = shown()
    share = bench.panels.results.sharing
    share.choose("code")
    assert share.place.children == (share.code.widget,)
    assert bench.code("result") in unescape(share.code.shown.value)
    share.choose("server")
    assert share.place.children == (share.server.widget,)
    share.choose("server")
    assert share.place.children == ()


def test_the_code_on_the_screen_is_what_would_be_copied(bench: wb.Workbench) -> None:
    share = bench.panels.results.sharing
    share.choose("code")
    for name, value in (
        ("budget_s", 3.0), ("smallest_effect", 0.05), ("pacing_s", 0.1), ("clock", "cpu"), ("seed", 3),
        ("calibration", "examples.npz"),
        ("configs", {**bench.state.configs, "C": wb.Config(level="basic")}),
    ):  # fmt: skip
        setattr(bench.state, name, value)
        assert share.code.text in unescape(share.code.shown.value), name


def test_without_an_answer_there_is_nothing_to_share_but_code() -> None:
    bench = wb.Workbench()
    share = bench.panels.results.sharing
    share.choose("bundle")
    assert "There is no answer to share yet" in share.status.value


@pytest.mark.usefixtures("without_plotly")
def test_an_export_that_fails_says_so_where_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = shown()
    share, sent = sharing(bench, tmp_path, monkeypatch)
    (tmp_path / "file").write_text("in the way")
    export, path = bench.result.export_html, tmp_path / "file" / "page.html"
    monkeypatch.setattr(bench.result, "export_html", lambda _, **options: export(path, **options))
    share.choose("page")
    job = bench.jobs.running
    assert job is not None
    job.finished.wait()
    settle(bench)
    assert isinstance(job.error, wb.WorkbenchError)
    assert "✖" in share.status.value
    assert sent == []
    assert bench.state.run_error is None, "the verdict has no trouble"


def test_a_cancelled_export_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    (tmp_path / "page.html").write_text("before")
    with pytest.raises(Cancelled):
        wb.Comparison(ordinary()).export_html(tmp_path / "page.html", cancel=cancel)
    assert (tmp_path / "page.html").read_text() == "before"


def test_the_verdict_stands_once_above_the_figure_and_in_a_pinned_one() -> None:
    card = page(shown()).cards["samples"]
    output, numbers = single(card.body, W.Output), single(card.body, W.HTML)
    assert numbers.value.count("<tr>") == 3, "a head, and a row for each config"
    assert "1.83" not in card.title.value
    assert "title" not in output.outputs[0]["data"][PLOTLY]["layout"]
    assert "1.83× faster" in card.bundle()[PLOTLY]["layout"]["title"]["text"]


def test_axes_side_by_side_keep_a_width_and_scroll() -> None:
    for figure, several in ((make_subplots(1, 2), True), (go.Figure(), False)):
        _, output = titled_figure(figure, "words")
        assert ("wbp-several" in output._dom_classes) == several


@pytest.fixture
def warmth() -> Iterator[None]:
    """Know one feature more."""
    with KINDS.with_one_more("warmth", "tests.features.warmth"):
        yield


@pytest.mark.usefixtures("warmth")
def test_a_new_kind_of_result_has_its_button_and_its_card(model: Path) -> None:
    """One file and one line of registration are enough; the panels name no kind."""
    bench = wb.Workbench()
    bench.load(str(model), wait=True)
    bench.panels.results.turn(EXPLORE)
    threads = page(bench, EXPLORE)
    bench.run("warmth", wait=True)
    settle(bench)
    assert bench.state.run_error is None
    assert list(threads.cards) == ["warmth, B"]
    assert threads.title == "warmth"
    assert "wbp-figure" in only(threads.cards["warmth, B"])._dom_classes
    threads.cards["warmth, B"].turn.click()
    settle(bench)
    assert isinstance(only(threads.cards["warmth, B"]), TableWidget)
    assert threads.again not in threads.bar.children, "the button of its form makes it again"
    code = bench.card_code(threads.cards["warmth, B"].card.code, "warmth/B")
    assert 'result.add(wb.warmth(model, b), "B")' in code
