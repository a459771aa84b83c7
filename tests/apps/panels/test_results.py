"""The results column without a browser: tabs, tables, the linked selection, pinning, the history."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import ipywidgets as W
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.factories import results as examples
from tests.factories.comparisons import HOSTILE, ordinary
from workbench.apps.panels.files import file_name
from workbench.apps.panels.layout import Layout
from workbench.apps.panels.table import TableWidget, cell
from workbench.apps.panels.tabs.card import CardWidget
from workbench.apps.panels.tabs.figure import PLOTLY, titled_figure
from workbench.apps.panels.tabs.history import HistoryPage
from workbench.apps.panels.tabs.tab import TabPage
from workbench.core.errors import Cancelled
from workbench.drawing.page.banner import verdict_html
from workbench.features.base.registry import KINDS

THREADS = 8


def shown(name: str = "tiny") -> wb.Workbench:
    """A bench with a hand-made comparison in its results."""
    record = ordinary()
    bench = wb.Workbench()
    assert bench.panels
    bench.show(wb.Comparison(replace(record, model=replace(record.model, name=name))))
    settle(bench)
    return bench


def page(bench: wb.Workbench, place: int) -> TabPage:
    made: Any = bench.panels.results.pages[place]
    return made


def only(card: CardWidget) -> W.Widget:
    (widget,) = card.body.children
    return widget


def figure_of(latency: TabPage) -> Any:
    """The title and the figure of the samples; the numbers stand below."""
    return only(latency.cards["samples"]).children[0].children


def test_a_result_is_drawn_in_the_selected_tab_alone() -> None:
    bench = shown()
    latency = page(bench, 0)
    assert list(latency.cards) == ["samples", "cumulative", "over time"]
    _, output = figure_of(latency)
    assert output.outputs[0]["data"][PLOTLY]["data"]
    assert not latency.cards["cumulative"].body.children, "a card that nobody looks at is not drawn"
    bench.panels.results.tabs.selected_index = 1
    assert latency.content.children == ()
    assert "Press Explain" in page(bench, 1).content.children[0].value


def test_a_figure_follows_the_width_of_its_place() -> None:
    _, output = figure_of(page(shown(), 0))
    assert output.outputs[0]["data"][PLOTLY]["config"] == {"responsive": True, "displayModeBar": False}


def test_every_figure_has_its_table() -> None:
    bench = shown()
    latency = page(bench, 0)
    for title in latency.cards:
        latency.which.value = title
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
    bench.link_selection(first, "picked")
    bench.link_selection(second, "picked")
    first.picked = ["second"]
    assert second.picked == ["second"]
    assert bench.state.selected == ("second",)


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
    [(float("nan"), None), (float("inf"), "inf"), (2**60, str(2**60)), (True, "yes"), (("a", "b"), "a, b")],
)
def test_a_cell_is_a_number_or_a_line_or_nothing(value: object, expected: object) -> None:
    assert cell(value) == expected


def test_a_table_of_many_rows_is_cut_and_says_so() -> None:
    table = TableWidget.of_frame(pd.DataFrame({"n": range(12_000)}), "many")
    assert (len(table.rows), table.total) == (5_000, 12_000)


def test_texts_of_strangers_are_text() -> None:
    record = ordinary()
    doubt = wb.Comparison(record).doubts
    hostile = replace(record, model=replace(record.model, name=HOSTILE), verdicts=(
        replace(record.verdicts[0], kind="unknown", ratio=None, reason=HOSTILE),))  # fmt: skip
    html = verdict_html(hostile)
    assert "<img" not in html
    assert "&lt;img" in html
    assert doubt == ()
    bench = shown(HOSTILE)
    assert bench.panels.results.row.path.value == f"{file_name(HOSTILE)}.ortbench"
    assert "/" not in file_name("../../etc/passwd")


def test_pinning_asks_the_page_for_a_cell() -> None:
    bench = shown()
    asked: list[dict[str, Any]] = []
    bench.page.bridge.send = lambda content, _=None: asked.append(content)
    card = page(bench, 0).cards["samples"]
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
    bench.page.bridge._answer(None, {"id": asked[0]["id"], "failed": "no notebook within reach"}, None)
    settle(bench)
    assert "Not pinned" in card.status.value
    assert "Run this in a cell" in card.status.value


def test_the_verdict_is_pinned_with_its_picture() -> None:
    bench = shown()
    asked: list[dict[str, Any]] = []
    bench.page.bridge.send = lambda content, _=None: asked.append(content)
    bench.panels.results.row.buttons["Pin verdict"].click()
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
    history.table._received(history.table, {"act": second}, [])
    assert bench.result.record.id == second
    history.table.picked = [first]
    assert not history.buttons["Open"].disabled
    assert history.buttons["Side by side"].disabled
    history.buttons["Open"].click()
    assert bench.result.record.id == first
    assert "wb.history().open" in bench.code("result")
    history.buttons["Use its configs"].click()
    assert bench.b == record.runs[1].config
    history.table.picked = [first, second]
    assert not history.buttons["Side by side"].disabled
    history.buttons["Side by side"].click()
    assert history.beside.children[0].total == 4
    assert history.beside.children[0].columns[0]["name"] == "when"
    history.buttons["Delete"].click()
    history.sure.click()
    assert len(wb.history()) == 0


@pytest.mark.usefixtures("own_home")
def test_an_empty_history_says_so() -> None:
    history = HistoryPage(wb.Workbench())
    history.show()
    assert history.status.value == ""
    assert "Nothing yet" in history.list.children[0].value


@pytest.mark.usefixtures("own_home")
@pytest.mark.parametrize("name", ["Open", "Use its configs", "Side by side"])
def test_the_history_refuses_a_picked_result_that_is_no_comparison(name: str) -> None:
    wb.Peaks(examples.peaks(), examples.about()).keep()
    history = HistoryPage(wb.Workbench())
    history.show()
    assert history.table is not None
    history.table.picked = [row[-1] for row in history.table.rows]
    history.buttons[name].click()
    assert "is no comparison" in history.status.value
    assert "Show it in a cell" in history.status.value


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


def test_saving_says_where_it_is_and_why_it_cannot_be(tmp_path: Path) -> None:
    bench = shown()
    actions = bench.panels.results.row
    for place, message in (
        (tmp_path / "mine.ortbench", "Saved as"),
        (tmp_path / "no" / "x.ortbench", "Fix:"),
    ):
        actions.path.value = str(place)
        actions.buttons["Save"].click()
        settle(bench)
        assert message in actions.status.value
    assert wb.open(tmp_path / "mine.ortbench").record == bench.result.record


@pytest.mark.usefixtures("without_plotly")
def test_export_writes_a_page_beside_the_notebook_and_offers_it(tmp_path: Path) -> None:
    bench = shown()
    sent: list[tuple[dict[str, Any], Any]] = []
    bench.page.bridge.send = lambda content, buffers=None: sent.append((content, buffers))
    actions = bench.panels.results.row
    actions.path.value = str(tmp_path / "mine.ortbench")
    actions.buttons["Export HTML"].click()
    assert actions.buttons["Export HTML"].disabled, "one at a time"
    job = bench.jobs.running
    assert job is not None
    job.finished.wait()
    settle(bench)
    (asked, (data,)) = sent[0]
    assert (asked["kind"], asked["name"], asked["mime"]) == ("download", "mine.html", "text/html")
    assert (tmp_path / "mine.html").read_bytes() == data
    assert data.lstrip().lower().startswith(b"<!doctype html")
    bench.page.bridge._answer(None, {"id": asked["id"], "ok": True}, None)
    settle(bench)
    assert "mine.html is in your downloads" in actions.status.value
    assert not actions.buttons["Export HTML"].disabled
    assert actions.path.value == str(tmp_path / "mine.ortbench"), "the typed path stays"


@pytest.mark.usefixtures("coarse")
def test_data_are_written_beside_the_bundle_into_a_new_folder_and_offered_as_a_zip(tmp_path: Path) -> None:
    bench = shown()
    sent: list[tuple[dict[str, Any], Any]] = []
    bench.page.bridge.send = lambda content, buffers=None: sent.append((content, buffers))
    row = bench.panels.results.row
    row.path.value = str(tmp_path / "mine.ortbench")
    for name in ("mine-data", "mine-data-2"):
        row.buttons["Export data"].click()
        settle(bench)
        assert f"result.export(&quot;{tmp_path / name}&quot;)" in row.status.value
        asked, (data,) = sent[-1]
        assert (asked["kind"], asked["name"]) == ("download", f"{name}.zip")
        files = {path.relative_to(tmp_path).as_posix() for path in (tmp_path / name).rglob("*.*")}
        assert set(ZipFile(BytesIO(data)).namelist()) == files >= {f"{name}/index.json"}
        bench.page.bridge._answer(None, {"id": asked["id"], "ok": True}, None)
        settle(bench)
        assert f"{name}.zip is in your downloads" in row.status.value
    exported = wb.open(tmp_path / "mine-data" / "result.ortbench")
    assert exported.record == bench.result.record


def test_data_that_cannot_be_written_say_why(tmp_path: Path) -> None:
    bench = shown()
    (tmp_path / "file").write_text("in the way")
    row = bench.panels.results.row
    row.path.value = str(tmp_path / "file" / "mine.ortbench")
    row.buttons["Export data"].click()
    settle(bench)
    assert "cannot be written" in row.status.value


@pytest.mark.usefixtures("without_plotly")
def test_an_export_that_fails_says_so_where_it_was_asked_for(tmp_path: Path) -> None:
    bench = shown()
    (tmp_path / "file").write_text("in the way")
    errors: list[Exception] = []
    with pytest.raises(wb.WorkbenchError):
        bench.export(tmp_path / "file" / "page.html", lambda _: None, errors.append, wait=True)
    assert len(errors) == 1
    assert bench.state.run_error is None, "the verdict has no trouble"


def test_a_cancelled_export_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    (tmp_path / "page.html").write_text("before")
    with pytest.raises(Cancelled):
        wb.Comparison(ordinary()).export_html(tmp_path / "page.html", cancel=cancel)
    assert (tmp_path / "page.html").read_text() == "before"


def test_the_verdict_stands_once_above_the_figure_and_in_a_pinned_one() -> None:
    card = page(shown(), 0).cards["samples"]
    figure, numbers = only(card).children
    title, output = figure.children
    assert numbers.value.count("<tr>") == 3, "a head, and a row for each config"
    assert "faster" not in title.value
    assert "title" not in output.outputs[0]["data"][PLOTLY]["layout"]
    assert "1.83× faster" in card.bundle()[PLOTLY]["layout"]["title"]["text"]


def test_axes_side_by_side_keep_a_width_and_scroll() -> None:
    for figure, several in ((make_subplots(1, 2), True), (go.Figure(), False)):
        _, output = titled_figure(figure, "words").children
        assert ("wbp-several" in output._dom_classes) == several


def test_a_new_kind_of_result_has_its_button_and_its_card(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file and one line of registration are enough; the panels name no kind."""
    monkeypatch.setattr(KINDS, "_makers", dict(KINDS._makers))
    monkeypatch.setattr(KINDS, "_made", dict(KINDS._made))
    KINDS.register("warmth", "tests.features.warmth")
    bench = wb.Workbench()
    bench.load(str(model), wait=True)
    bench.panels.results.tabs.selected_index = THREADS
    threads = page(bench, THREADS)
    bench.run("warmth", wait=True)
    settle(bench)
    assert bench.state.run_error is None
    assert list(threads.cards) == ["warmth, B"]
    assert "wbp-figure" in only(threads.cards["warmth, B"]).children[1]._dom_classes
    threads.cards["warmth, B"].turn.click()
    settle(bench)
    assert isinstance(only(threads.cards["warmth, B"]), TableWidget)
    assert threads.buttons["warmth"].description == "Warmth again"
    code = bench.card_code(threads.cards["warmth, B"].card.code, "warmth/B")
    assert 'result.add(wb.warmth(model, b), "B")' in code
