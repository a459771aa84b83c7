"""The history tab: its rows in words, results below their comparison, pins and notes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.apps.widgets import single
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.apps.panels import widgets as W
from workbench.apps.panels.tabs.history import PAGE, HistoryPage
from workbench.core.bundle.database import writing
from workbench.core.bundle.entries import PIN, Entry
from workbench.drawing.cell import PLOTLY
from workbench.features.base.history_rows import SHOWN_COLUMNS, ago, nested, row_of

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)


def entry(
    identity: str, kind: str = "comparison", model: str = "m", hours: float = 1.0, note: str = ""
) -> Entry:
    """Return an entry made that many hours before now."""
    when = (NOW - timedelta(hours=hours)).isoformat(timespec="seconds")
    return Entry(identity, when, kind, model, f"sha of {model}", None, None, None, None, "a CPU", note, 100)


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=5), "5 s ago"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=3.5), "3 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=40), "40 days ago"),
        (timedelta(seconds=-5), "0 s ago"),
    ],
)
def test_an_age_is_said_in_its_largest_unit(passed: timedelta, words: str) -> None:
    assert ago(passed) == words


def test_a_row_says_when_what_and_how_it_ended_without_ids() -> None:
    made = entry("x", note=f"{PIN} keep this")._replace(verdict="faster", ratio=1.8342, low=1.79, high=1.88)
    row = dict(zip(SHOWN_COLUMNS, row_of(made, "ORT defaults → level basic", NOW), strict=True))
    local = (NOW - timedelta(hours=1)).astimezone()
    assert row["when"] == f"{local:%Y-%m-%d %H:%M}"
    assert (row["ago"], row["what"]) == ("1 h ago", "ORT defaults → level basic")
    assert (row["verdict"], row["ratio"], row["pin"], row["note"]) == ("faster", "1.83×", PIN, "keep this")
    assert (
        dict(zip(SHOWN_COLUMNS, row_of(made._replace(ratio=1.0, low=0.99, high=1.01), "", NOW), strict=True))[
            "ratio"
        ]
        == "1.00×"
    )
    open_row = dict(
        zip(SHOWN_COLUMNS, row_of(made._replace(verdict="unknown", ratio=None), "", NOW), strict=True)
    )
    assert (open_row["verdict"], open_row["ratio"]) == ("not settled", None)


def test_other_results_stand_below_the_comparison_of_their_model() -> None:
    entries = [
        entry("late explanation", "explanation", hours=0.5),
        entry("new", hours=1),
        entry("other", model="other", hours=2),
        entry("profile", "profile", hours=3),
        entry("old", hours=4),
        entry("peaks", "peaks", model="", hours=5),
    ]
    order = ["new", "late explanation", "other", "old", "profile", "peaks"]
    assert [item.id for item in nested(entries)] == order
    pinned = [item._replace(note=PIN) if item.id == "old" else item for item in entries]
    assert [item.id for item in nested(pinned)][:2] == ["old", "profile"]


@pytest.mark.usefixtures("own_home")
def test_entries_are_pinned_and_noted() -> None:
    for number in range(2):
        wb.history().add(replace(ordinary(), id=f"2026010{number}-000000-abcdef"))
    bench = wb.Workbench()
    history = HistoryPage(bench)
    history.show()
    settle(bench)
    assert history.table is not None
    assert {str(row[SHOWN_COLUMNS.index("what")])[:14] for row in history.table.rows} == {"ORT defaults →"}
    last = history.table.rows[-1][-1]
    history.table.picked = [last]
    history.note.value = "the good one"
    history.table.picked = [last]
    assert history.note.value == "the good one"
    history.buttons["Pin"].click()
    assert history.table.rows[0][-1] == last
    assert {entry.note for entry in wb.history().entries()} == {"", f"{PIN} the good one"}
    history.table.picked = [last]
    history.buttons["Pin"].click()
    assert PIN not in {entry.note[:1] for entry in wb.history().entries()}


@pytest.mark.usefixtures("own_home")
def test_a_long_history_is_turned_page_by_page_and_searched_as_a_whole() -> None:
    with writing(wb.history().path, 1.0) as connection:
        row = ("profile", "m", "h", None, None, None, None, "cpu", "", 0, b"")
        for at in range(450):
            when = (NOW + timedelta(seconds=at)).isoformat()
            connection.execute(f"INSERT INTO records VALUES (?{', ?' * 12})", (f"id-{at:03}", when, *row))
    wb.history().pin("id-000")
    page = HistoryPage(wb.Workbench())
    page.show()
    assert page.table is not None
    assert [len(page.entries), page.entries[0].id] == [PAGE + 1, "id-449"], (
        "the pinned one is on every first page"
    )
    assert page.table.rows[0][-1] == "id-000"
    assert page.table.caption.startswith("1 to 200 of 450.")
    with writing(wb.history().path, 1.0) as connection:
        connection.execute("UPDATE records SET model = 'other' WHERE id >= 'id-150'")
    page.find.value = "other"
    assert page.table.caption.startswith("1 to 200 of 300.")
    page.find.value = ""
    for _ in range(2):
        page.turns["Older"].click()
    assert [entry.id for entry in page.entries] == [f"id-{at:03}" for at in range(49, -1, -1)]
    assert page.turns["Older"].disabled
    page.find.value = "ID-123"
    assert [entry.id for entry in page.entries] == ["id-123"]
    assert page.turns["Newer"].disabled


@pytest.mark.usefixtures("own_home")
def test_ids_are_in_the_table_and_not_on_the_screen() -> None:
    wb.history().add(ordinary())
    history = HistoryPage(wb.Workbench())
    history.show()
    assert history.table is not None
    assert history.table.hidden == SHOWN_COLUMNS.index("id")


@pytest.mark.usefixtures("own_home")
def test_published_files_open_as_the_comparison_that_they_hold() -> None:
    published = wb.Published(examples.published())
    published.keep()
    wb.history().add(replace(ordinary(), id="20260101-000000-abcdef"))
    bench = wb.Workbench()
    page = HistoryPage(bench)
    page.show()
    assert page.table is not None
    page.table.picked = [ordinary().id]
    page.buttons["Open"].click()
    assert "is shown in the results" in page.status.value
    assert bench.result.record == published.record.comparison
    names: dict[str, Any] = {}
    exec(bench.code("result"), names)
    assert names["result"].record == published.record.comparison
    made = bench.card_code('result.made("memory", "B")', "memory/B")
    assert "wb.compare(" in made, "what is made of it is not kept there"
    assert "history" not in made
    page.table.picked = [row[-1] for row in page.table.rows]
    page.buttons["Side by side"].click()
    (beside,) = page.beside.children
    assert beside.total == 4


@pytest.mark.usefixtures("own_home")
def test_the_folder_of_a_team_is_listed_and_only_read(tmp_path: Path) -> None:
    theirs = replace(ordinary(), id="20260101-000000-abcdef")
    wb.Comparison(theirs).save(tmp_path / "theirs.ortbench")
    wb.history().add(ordinary())
    bench = wb.Workbench()
    page = HistoryPage(bench)
    page.show()
    assert page.table is not None
    page.table.picked = [ordinary().id]
    page.buttons["Delete"].click()
    assert page.sure.layout.display != "none"
    page.folder.value = str(tmp_path)
    settle(bench)
    assert page.table is not None
    assert [row[-1] for row in page.table.rows] == [theirs.id]
    assert page.sure.layout.display == "none"
    page.table.picked = [theirs.id]
    disabled = {name for name, pressed in page.buttons.items() if pressed.disabled}
    assert disabled == {"Compare these two", "Side by side", "Pin", "Delete"}
    assert page.note.disabled
    page.buttons["Open"].click()
    assert "is shown in the results" in page.status.value
    assert bench.state.result is not None
    assert bench.state.result.record.id == theirs.id
    page.folder.value = str(tmp_path / "absent")
    assert "is no folder" in page.status.value
    page.folder.value = ""
    settle(bench)
    assert [entry.id for entry in page.entries] == [ordinary().id]


@pytest.mark.usefixtures("own_home")
def test_a_kept_result_that_is_no_comparison_opens_above_the_list() -> None:
    wb.Improvement(replace(examples.improvement(), comparison=None), examples.about()).keep()
    bench = wb.Workbench()
    page = HistoryPage(bench)
    page.show()
    settle(bench)
    assert page.table is not None
    (identity,) = (row[-1] for row in page.table.rows)
    page.table.received(page.table, {"act": identity}, [])
    settle(bench)
    (card,) = page.beside.children
    assert page.status.value == ""
    assert PLOTLY in single(card, W.Output).outputs[0]["data"]
    assert bench.result is None
    code = bench.card_code(f'wb.history().open("{identity}").figure()')
    assert code == f'import workbench as wb\n\nwb.history().open("{identity}").figure()'
    page.hide()
    assert not page.beside.children


def kept(bench: wb.Workbench, number: int, config: wb.Config) -> str:
    """Keep a comparison of the open model whose B is this config; return its id."""
    first, second = ordinary().runs
    runs, model = (first, replace(second, config=config)), bench.state.model
    record = replace(ordinary(), model=model.record(), inputs=model.inputs().record(), runs=runs)
    identity = f"2026010{number}-000000-abcdef"
    wb.history().add(replace(record, id=identity))
    return identity


def picking(bench: wb.Workbench, *identities: str) -> HistoryPage:
    """Return the page of the history with these entries picked, in this order."""
    page = HistoryPage(bench)
    page.show()
    assert page.table is not None
    page.table.picked = list(identities)
    return page


def test_a_kept_config_becomes_the_baseline_of_what_comes_next(bench: wb.Workbench, own_home: Path) -> None:
    del own_home
    before = bench.b
    identity = kept(bench, 1, wb.Config(level="basic"))
    page = picking(bench, identity)
    page.buttons["Use as A"].click()
    assert (bench.a, bench.b) == (wb.Config(level="basic"), before)
    assert "A is set: level basic." in page.status.value
    assert 'a = wb.Config(level="basic")' in bench.code("panels")
    alone = wb.Measurement(examples.measurement())
    alone.keep()
    (entry,) = wb.history().entries(kind="measurement")
    page = picking(bench, entry.id)
    page.buttons["Use as A"].click()
    assert bench.a == alone.run.config


def test_a_result_without_a_config_is_no_baseline(bench: wb.Workbench, own_home: Path) -> None:
    del own_home
    wb.Peaks(examples.peaks(), examples.about()).keep()
    before = bench.a
    (entry,) = wb.history().entries()
    page = picking(bench, entry.id)
    page.buttons["Use as A"].click()
    assert "is of no config" in page.status.value
    assert bench.a == before


@pytest.mark.parametrize("is_open", [True, False])
def test_two_kept_results_of_a_model_are_ready_to_be_compared(
    bench: wb.Workbench, own_home: Path, is_open: bool
) -> None:
    del own_home
    model = bench.state.model
    basic, layout = kept(bench, 1, wb.Config(level="basic")), kept(bench, 2, wb.Config(level="layout"))
    if not is_open:
        bench.state.model = None
    bench.state.mode = "results"
    page = picking(bench, layout, basic)
    page.buttons["Compare these two"].click()
    assert "Measured at different times, so without a verdict" in page.status.value
    if (finding := bench.finding.running) is not None:
        finding.finished.wait()
    settle(bench)
    assert (bench.a, bench.b) == (wb.Config(level="layout"), wb.Config(level="basic"))
    assert bench.state.mode == "compare"
    assert bench.state.model.sha256 == model.sha256
    assert bench.result is None, "what was measured at other times is no answer"
    assert "result = wb.compare(model, a, b" in bench.code("panels")
    assert 'a = wb.Config(level="layout")\nb = wb.Config(level="basic")' in bench.code("panels")


def test_two_kept_results_end_on_no_empty_view(bench: wb.Workbench, own_home: Path) -> None:
    """The kept answer, which is shown first, turns to its outputs and is folded when both configs are set."""
    del own_home
    results, int8 = bench.panels.results, wb.Config(precision=wb.DynamicInt8())
    first, second = kept(bench, 1, int8), kept(bench, 2, wb.Config(level="layout"))
    bench.show(wb.history().open(first))
    assert results.shown == "Outputs"
    results.turn("Timing")
    picking(bench, first, second).buttons["Compare these two"].click()
    settle(bench)
    assert (bench.a, bench.b) == (int8, wb.Config(level="layout"))
    assert results.shown == "Timing"


def test_a_view_that_a_person_chose_stays_when_its_answer_is_folded(
    bench: wb.Workbench, own_home: Path
) -> None:
    del own_home
    results = bench.panels.results
    bench.show(wb.history().open(kept(bench, 1, wb.Config(precision=wb.DynamicInt8()))))
    results.turn("Memory and start")
    results.turn("Outputs")
    bench.b = wb.Config(level="basic")
    settle(bench)
    assert bench.result is None
    assert results.shown == "Outputs"


def test_results_of_two_models_are_not_compared(bench: wb.Workbench, own_home: Path) -> None:
    del own_home
    wb.history().add(ordinary())
    own = kept(bench, 1, wb.Config(level="basic"))
    assert not picking(bench, own, kept(bench, 2, wb.Config())).buttons["Compare these two"].disabled
    for identities in ([own], [own, ordinary().id]):
        assert picking(bench, *identities).buttons["Compare these two"].disabled
