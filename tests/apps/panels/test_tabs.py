"""Tabs: one bar of switches, cards about A and B behind one switch, questions that turn to their answers."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import ipywidgets as W
import pandas as pd
import pytest

import workbench as wb
from tests.apps.panels.conftest import line_of, settle
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.factories.graphs import fused
from workbench.apps.panels.tabs.card import titled_figure
from workbench.apps.panels.tabs.next_steps import ask
from workbench.apps.panels.tabs.results import MODES
from workbench.apps.panels.tabs.tab import BOTH, Tab, TabPage
from workbench.drawing.cell import PLOTLY
from workbench.drawing.chart import Axis, Chart, Value, one_value, run_look
from workbench.drawing.chart_figure import chart_figure
from workbench.features.profile.cards import nodes_html


@pytest.fixture
def shown() -> wb.Workbench:
    """Panels with a comparison that holds every kind of result."""
    bench = wb.Workbench()
    assert bench.panels
    bench.show(wb.Comparison(ordinary(), parts=examples.parts()))
    settle(bench)
    return bench


def turned(bench: wb.Workbench, title: str) -> TabPage:
    results = bench.panels.results
    results.turn(title)
    settle(bench)
    page: Any = results.pages[results.shown]
    return page


def test_cards_about_a_and_b_share_a_switch(shown: wb.Workbench) -> None:
    flame = turned(shown, "Where time goes")
    flame.choose("by operator")
    assert flame.side.options == ("A", "B", BOTH)
    assert list(flame.content.children) == [flame.cards["by operator, A"].widget]
    flame.side.value = "B"
    flame.choose("by node")
    assert list(flame.content.children) == [flame.cards["by node, B"].widget], "the side stays"
    flame.side.value = BOTH
    both = [flame.cards["by node, A"], flame.cards["by node, B"]]
    assert [*flame.content.children] == [card.widget for card in both]
    assert all(card.head in card.widget.children for card in both), "each has its own menu"


def set_parts(bench: wb.Workbench, parts: dict[str, Any]) -> None:
    bench.state.answer = replace(bench.state.answer, parts=parts)


def tree(*widgets: Any) -> list[Any]:
    """Return widgets with all that is in them."""
    return [part for widget in widgets for part in (widget, *tree(*getattr(widget, "children", ())))]


@pytest.mark.parametrize("title", ["Timing", "What ORT did", "Where time goes"])
def test_what_was_drawn_is_closed_when_the_next_result_is_shown(shown: wb.Workbench, title: str) -> None:
    page = turned(shown, title)
    before = tree(*(part for card in page.cards.values() for part in (card.widget, card.head, card.turn)))
    assert all(widget.comm is not None for widget in before)
    shown.show(wb.Comparison(replace(ordinary(), id="another"), parts=examples.parts()))
    turned(shown, title)
    settle(shown)
    assert {widget.comm for widget in before} == {None}
    now = tree(page.widget)
    assert all(widget.comm is not None and widget.layout.comm is not None for widget in now)


def test_a_view_that_was_replaced_follows_nothing(shown: wb.Workbench) -> None:
    page = turned(shown, "What ORT did")
    card = next(card for card in page.cards.values() if card.card.title == "graph")
    page.choose("graph")
    settle(shown)
    view = card.drawn
    shown.state.selected = ("one",)
    assert list(view.selected) == ["one"]
    shown.show(wb.Comparison(replace(ordinary(), id="another"), parts=examples.parts()))
    turned(shown, "What ORT did")
    settle(shown)
    shown.state.selected = ("two",)
    assert list(view.selected) == ["one"]


def test_a_card_that_is_turned_to_its_table_and_back_shows_the_same_view(shown: wb.Workbench) -> None:
    page = turned(shown, "What ORT did")
    page.choose("before and after")
    settle(shown)
    card = page.cards["before and after, A"]
    view = card.drawn
    assert card.body.children == (view,)
    card.turn.click()
    settle(shown)
    (table,) = card.body.children
    card.turn.click()
    settle(shown)
    assert card.body.children == (view,)
    assert view.comm is not None
    assert table.comm is None


def ends_with(box: Any, widget: Any) -> bool:
    return bool(box.children.index(widget) == len(box.children) - 1)


def test_a_single_card_has_its_menu_in_the_bar(shown: wb.Workbench) -> None:
    latency = turned(shown, "Timing")
    assert ends_with(latency.bar, latency.cards["samples"].menu)
    latency.choose("over time")
    assert ends_with(latency.bar, latency.cards["over time"].menu)


@pytest.mark.parametrize(
    "title", ["Timing", "Memory and start", "Outputs", "Where time goes", "What ORT did"]
)
def test_a_tab_opens_on_a_picture(shown: wb.Workbench, title: str) -> None:
    page = turned(shown, title)
    first = next(iter(page.cards.values()))
    assert first.card.draw is not None
    assert first.widget in page.content.children


def test_what_differs_between_model_files_is_a_card_of_the_graph_tab(shown: wb.Workbench) -> None:
    assert "model files, B" not in turned(shown, "What ORT did").cards
    shown.show(wb.Comparison(ordinary(), parts=examples.parts()))
    shown.result.add(examples.further()["model files"], "B")
    graph = turned(shown, "What ORT did")
    graph.fresh = False
    graph.show()
    graph.choose("model files")
    settle(shown)
    card = graph.cards["model files, B"]
    (output,) = card.body.children
    assert "10 nodes before, 1,240 after" in card.title.value
    assert output.outputs[0]["data"][PLOTLY]["data"]
    card.turn.click()
    settle(shown)
    (table,) = card.body.children
    assert table.rows[0] == ["operator", "Conv", "4", "2"]
    assert card.code().endswith('result.files("B").figure()')


def test_a_next_step_turns_to_its_answer_and_makes_it_where_there_is_none(
    shown: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, made = shown.panels.results, list[str]()
    monkeypatch.setattr(shown, "run", made.append)
    ask(shown, results.turn, "explanation")
    assert results.shown == "What ORT did"
    assert made == []
    ask(shown, results.turn, "first difference")
    assert results.shown == "Outputs"
    assert made == ["first difference"]
    page: Any = results.pages["Outputs"]
    assert page.title == "first difference"


def test_what_is_not_made_yet_is_a_sentence_and_a_button(
    shown: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(shown, "run", made.append)
    memory = turned(shown, "Memory and start")
    memory.choose("memory settings")
    line = line_of(memory, "memory settings")
    assert memory.content.children == (line.widget,)
    assert "each toggled alone" in line.words.value
    assert line.run.description.startswith("Memory settings, about ")


def test_a_mode_has_a_page_of_its_own_and_the_view_comes_back(shown: wb.Workbench) -> None:
    results = shown.panels.results
    turned(shown, "Outputs")
    for title, mode in MODES.items():
        results.turn(title)
        assert (shown.state.mode, results.shown) == (mode, title)
    shown.state.mode = "compare"
    assert results.shown == "Outputs"
    results.step(1)
    assert results.shown == "Memory and start"
    results.step(1)
    assert results.shown == "Timing"


def test_the_answer_folds_for_a_view_that_needs_the_room(shown: wb.Workbench) -> None:
    place = shown.panels.results.place
    assert "wbp-folded" not in place.widget._dom_classes
    turned(shown, "What ORT did")
    assert "wbp-folded" in place.widget._dom_classes
    assert "1.83× faster" in place.line.value
    place.open.click()
    assert "wbp-folded" not in place.widget._dom_classes
    turned(shown, "Timing")
    shown.state.wide = True
    assert "wbp-folded" in place.widget._dom_classes


def test_the_answer_stays_as_it_is_when_a_run_ends(shown: wb.Workbench) -> None:
    place = shown.panels.results.place
    turned(shown, "What ORT did")
    shown.state.answer = replace(shown.state.answer, result=wb.Comparison(replace(ordinary(), id="another")))
    settle(shown)
    page: Any = shown.panels.results.pages["What ORT did"]
    assert not page.cards
    assert "wbp-folded" in place.widget._dom_classes, "nothing moves, though no explanation is left"
    place.open.click()
    shown.state.answer = replace(shown.state.answer, result=wb.Comparison(ordinary(), parts=examples.parts()))
    settle(shown)
    assert page.cards
    assert "wbp-folded" not in place.widget._dom_classes, "a person unfolded it"
    turned(shown, "Timing")
    turned(shown, "What ORT did")
    assert "wbp-folded" in place.widget._dom_classes


def test_a_tab_is_made_when_it_is_first_shown(shown: wb.Workbench) -> None:
    results = shown.panels.results
    assert list(results.pages) == ["Timing"]
    turned(shown, "Memory and start")
    assert len(results.pages) == 2


def test_a_switch_that_is_told_after_its_tab_was_left_draws_nothing(shown: wb.Workbench) -> None:
    """A page tells of a second press once the first is answered, and of a turn of the tabs at once."""
    latency = turned(shown, "Timing")
    turned(shown, "What ORT did")
    latency.choose("over time")
    settle(shown)
    assert latency.content.children == (), "a figure would be drawn without a size"
    turned(shown, "Timing")
    assert latency.content.children == (latency.cards["over time"].widget,)


def test_a_tab_that_is_left_while_a_job_fills_it_ends_empty(
    shown: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    filling, go_on, all_cards = threading.Event(), threading.Event(), Tab.all_cards

    def slowly(tab: Tab, state: Any) -> Any:
        filling.set()
        go_on.wait()
        return all_cards(tab, state)

    monkeypatch.setattr(Tab, "all_cards", slowly)
    latency = turned(shown, "Timing")
    parts = {"thread scaling/B": wb.Threads(SCALING)}
    threads = [
        threading.Thread(
            target=setattr, args=(shown.state, "answer", replace(shown.state.answer, parts=parts))
        ),
        threading.Thread(target=shown.panels.results.turn, args=("Results",)),
    ]
    threads[0].start()
    filling.wait()
    threads[1].start()
    threads[1].join(0.2)  # it waits for the other one
    go_on.set()
    for thread in threads:
        thread.join()
    assert latency.content.children == ()


SCALING = examples.scaling(
    *(
        examples.thread_point(count, spinning, latency_s)
        for spinning, latencies in ((True, (0.01, 0.005, 0.005)), (False, (0.012, 0.006, 0.004)))
        for count, latency_s in zip((1, 2, 4), latencies, strict=True)
    )
)


def test_the_fewest_threads_that_are_enough_go_into_b() -> None:
    bench = wb.Workbench()
    assert bench.panels
    set_parts(bench, {"thread scaling/B": wb.Threads(SCALING)})
    explore = turned(bench, "Explore")
    explore.choose("thread scaling")
    settle(bench)
    card = explore.cards["thread scaling, B"]
    buttons = [widget for widget in tree(card.body) if isinstance(widget, W.Button)]
    assert [button.description for button in buttons] == [
        "Use 4 threads, not spinning in B",
        "Use 2 threads, spinning in B",
    ]
    buttons[1].click()
    assert (bench.b.intra_op_threads, bench.b.spinning) == (2, True)
    assert "B is set: Use 2 threads, spinning in B. Press Compare" in card.status.value


def test_the_flame_shows_the_configs_that_were_profiled() -> None:
    """A failed, so that only the candidates have a profile."""
    bench = wb.Workbench()
    assert bench.panels
    profile = wb.Profile.of(examples.profile(fused()), examples.about())
    set_parts(bench, {f"profile/{label}": profile for label in "BC"})
    flame = turned(bench, "Where time goes")
    card = flame.cards["flame"]
    assert card.status.value == ""
    assert [run.label for run in card.drawn.shown] == ["B", "C"]
    assert card.card.code == 'result.flame("C", baseline="B")'
    set_parts(bench, {"profile/B": profile})
    settle(bench)
    assert flame.cards["flame"].card.code == 'result.profile("B").flame()'


@pytest.mark.parametrize(("label", "scrolls"), [("A", False), ("/encoder/layer.3/attention/MatMul", True)])
def test_a_figure_with_long_labels_keeps_a_width(label: str, scrolls: bool) -> None:
    rows = (one_value(label, Value(1.0, "1 ms", run_look(0))),)
    figure = chart_figure(Chart(("latency",), (Axis("latency (ms)"),), rows))
    _, output = titled_figure(figure, "")
    assert ("wbp-several" in output._dom_classes) is scrolls
    assert output.layout.min_height.endswith("px")


def test_the_time_of_a_slow_node_has_no_exponent() -> None:
    class Profile:
        def to_frame(self) -> pd.DataFrame:
            return pd.DataFrame({"node": ["/a", "/b"], "op_type": "Conv", "self_s": [1.234, 0.0005]})

    assert "/a: 1.23 s<" in nodes_html(Profile(), "Conv")
    assert "/b: 500 µs<" in nodes_html(Profile(), "Conv")


def test_a_view_of_full_width_folds_no_configs_of_another_mode(shown: wb.Workbench) -> None:
    state, configs = shown.state, shown.panels.configs
    state.wide = True
    assert configs.layout.display == "none"
    state.mode = "explore"
    assert configs.layout.display is None
    state.mode = "compare"
    assert configs.layout.display == "none"
