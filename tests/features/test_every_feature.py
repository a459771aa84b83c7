"""Every feature, through the front door: printed, framed, drawn, saved, exported, in the page, as JSON.

Results are made by hand, as strangers might give them, and by real calls on tiny models.
A feature that only tests know goes the same way.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from PIL import Image

import workbench as wb
from tests.apps.panels.conftest import line_of, settle
from tests.apps.panels.conftest import no_browser as no_browser  # a fixture
from tests.apps.widgets import descendants
from tests.core.models import tiny
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.features import warmth
from tests.features.calls import CALLS
from tests.features.warmth import Warmth, WarmthRecord
from workbench.apps.cli import main
from workbench.apps.panels.tabs.history import HistoryPage
from workbench.drawing.cell import PLOTLY
from workbench.features import FEATURES
from workbench.features.base.registry import KINDS
from workbench.features.base.written import PUBLIC, written

TOY = "warmth"
BY_HAND = (*FEATURES, TOY)
MEASURED = tuple(f"{name}, measured" for name in FEATURES)
ALONE = {"comparison", "deployment", "peaks", "study"}  # kept in no comparison
QUICK: dict[str, Any] = {
    "budget_s": 0.3, "duration_s": 0.1, "callers": (1, 2), "progress": False, "keep": False,
}  # fmt: skip

pytestmark = pytest.mark.usefixtures("coarse", "toy")


def kind_of(name: str) -> str:
    return name.partition(", ")[0]


def marked(name: str) -> Any:
    """Return a name for pytest, with the marks of what it takes to make that result."""
    if name not in MEASURED:
        return name
    marks = [pytest.mark.real, *([pytest.mark.slow] if kind_of(name) in CALLS else [])]
    return pytest.param(name, marks=marks)


def parametrized(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", list(map(marked, names)))


every = parametrized([*BY_HAND, *MEASURED])
every_alone = parametrized(name for name in (*BY_HAND, *MEASURED) if kind_of(name) in ALONE)
every_other = parametrized(name for name in (*BY_HAND, *MEASURED) if kind_of(name) not in ALONE)


@cache
def result_of(name: str, folder: Path) -> Any:
    """Return a result of a feature: the example, or one that its public function makes now."""
    feature = kind_of(name)
    if feature == TOY:
        return Warmth(WarmthRecord(41.5), examples.about())
    if name not in MEASURED:
        return examples.every_kind()[feature]
    if feature in CALLS:
        place = folder / f"made {feature}"
        place.mkdir()
        return CALLS[feature](tiny.save(tiny.mlp(), place))
    declared = KINDS.named(feature)
    takes = declared.function.__annotations__
    precision = wb.DynamicInt8() if "precision" in declared.needs else None
    configs = [
        wb.Config(precision=precision),
        *([wb.Config(level="basic")] if feature in ("comparison", "first difference") else []),
    ]
    return declared.make("digits-conv", configs, {key: QUICK[key] for key in QUICK if key in takes})


@pytest.fixture
def result(name: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return result_of(name, tmp_path_factory.getbasetemp())


@pytest.fixture
def compared(name: str, result: Any) -> wb.Comparison:
    """A comparison that holds the result; files are explained, since they are drawn beside the graph."""
    comparison = wb.Comparison(ordinary())
    comparison.add(result, "B")
    if kind_of(name) == "model files":
        comparison.add(examples.every_kind()["explanation"], "B")
    return comparison


@pytest.fixture(scope="module")
def bench() -> wb.Workbench:
    """Panels that have been shown."""
    made = wb.Workbench()
    assert made.panels
    return made


@pytest.fixture
def bundle(result: Any, tmp_path: Path) -> Any:
    return result.save(tmp_path / "one.ortbench")


def test_every_feature_has_an_example() -> None:
    assert set(KINDS.names) == set(BY_HAND) == {*examples.every_kind(), TOY}


def test_the_toy_is_a_short_module() -> None:
    assert len(Path(warmth.__file__).read_text("utf-8").splitlines()) <= 60


@every
def test_it_is_words_and_a_table(result: Any) -> None:
    words, frame = str(result), result.to_frame()
    assert words.replace("\n", "").isprintable()
    assert any(letter.isdigit() for letter in words) or "not known" in words
    assert isinstance(frame, pd.DataFrame)
    assert all(isinstance(column, str) for column in frame.columns)


@every
def test_it_is_drawn_live_and_still(result: Any) -> None:
    data, about = result._repr_mimebundle_()
    assert data["text/plain"] == str(result)
    assert not {"text/html", "image/svg+xml"} & {*data}
    assert getattr(result, "_repr_html_", None) is None
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.width == 2 * about["image/png"]["width"]
    ElementTree.fromstring(result.still().to_svg())
    figure = result.figure()
    assert figure is None or figure.data or figure.layout.annotations
    assert figure is None or json.dumps(data[PLOTLY])


@every
def test_it_is_saved_and_reopened_the_same(result: Any, bundle: Path, tmp_path: Path) -> None:
    again = wb.open(bundle)
    assert type(again) is type(result)
    assert str(again) == str(result)
    assert again.about == result.about
    assert again.to_frame().equals(result.to_frame())
    assert [part.name for part in again.parts] == [part.name for part in result.parts]
    assert again.save(tmp_path / "two.ortbench").read_bytes() == bundle.read_bytes()


@every
def test_it_is_exported(name: str, result: Any, bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "exported"
    assert main(["export", str(bundle), str(folder)]) == 0
    index = json.loads((folder / "index.json").read_text())
    assert index["kind"] == kind_of(name)
    assert all((folder / file).stat().st_size for file in (*index["tables"], *index["pictures"]))
    assert str(wb.open(folder / "result.ortbench")) == str(result)


@every
@pytest.mark.usefixtures("own_home")
def test_it_is_in_the_history(name: str, result: Any) -> None:
    result.keep()
    (row,) = wb.history().to_frame(kind=kind_of(name)).to_dict("records")
    opened = wb.history().open(row["id"])
    assert type(opened) is type(result)
    assert opened.about == result.about
    assert (row["model"] or None) == (None if result.about.model is None else result.about.model.name)


@every_other
@pytest.mark.usefixtures("without_plotly", "without_measured")
def test_it_is_in_the_page_of_its_comparison(
    name: str, result: Any, compared: wb.Comparison, tmp_path: Path
) -> None:
    kind = kind_of(name)
    again = wb.open(compared.save(tmp_path / "compared.ortbench"))
    label = None if KINDS.named(kind).per == "runs" else "B"
    made = again.made(kind, label)
    assert type(made) is type(result)
    assert made.to_frame().equals(compared.made(kind, label).to_frame())
    assert made.about.model == result.about.model
    section = again.page_html().partition(f'<section id="{kind.replace(" ", "-")}">')[2]
    assert "<table>" in section.partition("</section>")[0] or not KINDS.named(kind).heading


def assert_drawn(bench: wb.Workbench, kind: str, view: str) -> None:
    """Assert that a view shows the cards of a feature, of a comparison without a name, and draws each."""
    bench.panels.results.turn(view, kind)
    settle(bench)
    page: Any = bench.panels.results.pages[view]
    if view == "Improve":
        assert (page.tried if kind == "improvement" else page.list).children
        cards = shown = page.searches
    else:
        cards = [card for card in page.cards.values() if card.card.kind == kind]
        shown = [card for card in cards if card.widget in page.content.children]
        assert shown
    for card in shown:
        (drawn,) = card.body.children
        assert not any(word in getattr(drawn, "value", "") for word in ("drawing…", "wbp-error"))
    for card in cards:
        kept = card.bundle()
        assert kept["text/plain"].strip()
        assert {PLOTLY, "image/png"} & {*kept} or not card.card.table().empty
    assert not bench.state.bug


@every_other
def test_its_cards_are_made_and_drawn_in_the_panels(
    name: str, compared: wb.Comparison, bench: wb.Workbench
) -> None:
    kind = kind_of(name)
    bench.show(compared)
    assert bench.state.has_part(kind)
    view, *_ = KINDS.offer(kind).tabs or KINDS.offer("explanation").tabs
    assert_drawn(bench, kind, view)


@every_alone
@pytest.mark.usefixtures("own_home", "without_plotly")
def test_what_no_comparison_holds_has_its_page_and_is_opened_from_the_history(
    result: Any, bench: wb.Workbench
) -> None:
    page_html = result.page_html()
    assert "<h2>" in page_html
    assert "<table>" in page_html
    result.keep()
    history = HistoryPage(bench)
    history.show()
    settle(bench)
    assert history.table is not None
    assert [row[-1] for row in history.table.rows] == [result.about.id]
    history.table.picked = [result.about.id]
    history.buttons["Open"].click()
    measured = result if isinstance(result, wb.Comparison) else getattr(result, "comparison", None)
    if measured is not None:
        assert bench.result.record == measured.record
        bench.panels.results.turn("Timing")
        bench.panels.results.pages["Timing"].choose("samples")
        assert_drawn(bench, "", "Timing")
    else:
        settle(bench)
        assert history.status.value == ""
        (card,) = history.beside.children
        (drawn,) = [box for box in descendants(card) if "wbp-card-body" in getattr(box, "_dom_classes", ())]
        assert not any(word in str(drawn.children) for word in ("drawing…", "wbp-error"))


@pytest.mark.parametrize("name", BY_HAND)
def test_it_is_offered_with_a_hint_in_a_tab_that_the_panels_have(name: str, bench: wb.Workbench) -> None:
    offer = KINDS.named(name).offer
    listed = {tab for tab in bench.panels.results.places if offer in KINDS.offered(tab)}
    assert listed == (set(offer.tabs) if offer.button else set())
    assert bool(offer.hint) >= bool(offer.button)


@cache
def public_lines() -> list[str]:
    return written()[PUBLIC].splitlines()


def public_line(public: Any) -> str:
    return f"from {public.__module__} import {public.__name__} as {public.__name__}"


@pytest.mark.parametrize("name", BY_HAND)
def test_its_result_has_a_public_name(name: str) -> None:
    assert public_line(KINDS.named(name).result) in public_lines()


@pytest.mark.parametrize("name", [name for name in BY_HAND if name == TOY or KINDS.named(name).call])
def test_it_has_a_public_name_and_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    feature = KINDS.named(name)
    assert public_line(feature.function) in public_lines()
    assert name == TOY or getattr(wb, feature.public_name) is feature.function
    with pytest.raises(SystemExit):
        main([feature.offer.command_name, "--help"])
    assert f"usage: workbench {feature.offer.command_name} " in capsys.readouterr().out


def test_the_help_lists_the_commands_of_all_features(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out.split()
    assert {KINDS.named(name).offer.command_name for name in BY_HAND if KINDS.named(name).call} <= {*listed}


@pytest.mark.parametrize(
    ("arguments", "degrees"), [([], 40.0), (["--seed", "3"], 41.0), (["--extra", "2"], 42.0)]
)
def test_the_command_of_a_feature_makes_it(
    arguments: list[str], degrees: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, saved = str(tiny.save(tiny.mlp(), tmp_path)), tmp_path / "one.ortbench"
    assert main([TOY, model, "--a", "level=basic", "--json", "-o", str(saved), *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [{"degrees": degrees}]
    assert wb.open(saved).record == WarmthRecord(degrees)
    assert KINDS.named(TOY).making_code(["b"], '"B"', {}) == 'result.add(wb.warmth(model, b), "B")'


def test_the_form_of_a_feature_gives_its_option_to_the_call_and_to_the_code(tmp_path: Path) -> None:
    bench = wb.Workbench()
    bench.load(str(tiny.save(tiny.mlp(), tmp_path)), wait=True)
    explore: Any = bench.panels.results.pages["Explore"]
    line = line_of(explore, TOY)
    assert [*line.fields] == ["extra"]
    line.fields["extra"].value = "2"
    bench.run(TOY, wait=True)
    settle(bench)
    (made,) = bench.state.held_parts(TOY).values()
    assert made.record == WarmthRecord(43.0), "the panels give inputs, too"
    assert_drawn(bench, TOY, "Explore")
    assert line.widget in explore.content.children, "the form stands above"
    card = explore.cards["warmth, B"].card
    assert 'result.add(wb.warmth(model, b, extra=2), "B")' in bench.card_code(card.code, card.part)


@every
def test_it_is_json(name: str, result: Any, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(bundle), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["id"] == result.about.id
    if kind_of(name) != "comparison":
        assert shown["kind"] == kind_of(name)
        assert shown["text"] == str(result)
        assert len(shown["rows"]) == len(result.to_frame())
    assert main(["schema", kind_of(name)]) == 0
    assert kind_of(name) in json.loads(capsys.readouterr().out)["title"]
