"""Every feature, through the front door: printed, framed, drawn, saved, exported, in the page, as JSON.

Results are made by hand, as strangers might give them, and by real calls on a tiny model where quick.
A feature that only tests know goes the same way.
"""

from __future__ import annotations

import base64
import io
import json
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from PIL import Image

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.features.warmth import Warmth, WarmthRecord
from workbench.apps.cli import main
from workbench.features import FEATURES
from workbench.features.base.registry import KINDS

TOY = "warmth"
BY_HAND = (*FEATURES, TOY)
SLOW_CALLS = {  # more than a few seconds, or of more than a model and configs
    "ablation", "decoding", "deployment", "improvement", "matrix", "memory settings", "model files", "peaks",
    "pipelines", "published files", "replay", "roofline", "sensitivity", "study", "sweep", "versions",
    "why slower",
}  # fmt: skip
MEASURED = tuple(f"{name}, measured" for name in FEATURES if name not in SLOW_CALLS)
ALONE = {"comparison", "deployment", "peaks", "study"}  # kept in no comparison
QUICK: dict[str, Any] = {
    "budget_s": 0.3, "duration_s": 0.1, "callers": (1, 2), "progress": False, "keep": False,
}  # fmt: skip

pytestmark = pytest.mark.usefixtures("coarse", "toy")
every = pytest.mark.parametrize(
    "name", [*BY_HAND, *(pytest.param(name, marks=pytest.mark.real) for name in MEASURED)]
)


@cache
def result_of(name: str) -> Any:
    """Return a result of a feature: the example, or one that its public function makes now."""
    feature, _, measured = name.partition(", ")
    if feature == TOY:
        return Warmth(WarmthRecord(41.5), examples.about())
    if not measured:
        return examples.every_kind()[feature]
    declared = KINDS.named(feature)
    takes = declared.function.__annotations__
    precision = wb.DynamicInt8() if "precision" in declared.needs else None
    configs = [
        wb.Config(precision=precision),
        *([wb.Config(level="basic")] if feature in ("comparison", "first difference") else []),
    ]
    return declared.make("digits-conv", configs, {key: QUICK[key] for key in QUICK if key in takes})


def kind_of(name: str) -> str:
    return name.partition(", ")[0]


@pytest.fixture
def without_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out of a comparison's page what is the same for every feature: tests/features/base has it."""
    monkeypatch.setattr("workbench.features.base.page.add_measured", lambda _page, _record: None)


@pytest.fixture(scope="module")
def panels() -> Any:
    return wb.Workbench().panels


@pytest.fixture
def bundle(name: str, tmp_path: Path) -> Any:
    return result_of(name).save(tmp_path / "one.ortbench")


def test_every_feature_has_an_example() -> None:
    assert set(KINDS.names) == set(BY_HAND) == {*examples.every_kind(), TOY}


@every
def test_it_is_words_and_a_table(name: str) -> None:
    words, frame = str(result_of(name)), result_of(name).to_frame()
    assert words.replace("\n", "").isprintable()
    assert any(letter.isdigit() for letter in words) or "not known" in words
    assert isinstance(frame, pd.DataFrame)
    assert all(isinstance(column, str) for column in frame.columns)


@every
def test_it_is_drawn_live_and_still(name: str) -> None:
    result = result_of(name)
    data, about = result._repr_mimebundle_()
    assert data["text/plain"] == str(result)
    assert not {"text/html", "image/svg+xml"} & {*data}
    assert getattr(result, "_repr_html_", None) is None
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.width == 2 * about["image/png"]["width"]
    ElementTree.fromstring(result.still().to_svg())
    figure = result.figure()
    assert figure is None or figure.data or figure.layout.annotations
    assert figure is None or json.loads(figure.to_json())["layout"]


@every
def test_it_is_saved_and_reopened_the_same(name: str, bundle: Path, tmp_path: Path) -> None:
    result, again = result_of(name), wb.open(bundle)
    assert type(again) is type(result)
    assert str(again) == str(result)
    assert again.about == result.about
    assert again.to_frame().equals(result.to_frame())
    assert [part.name for part in again.parts] == [part.name for part in result.parts]
    assert again.save(tmp_path / "two.ortbench").read_bytes() == bundle.read_bytes()


@every
def test_it_is_exported_by_method_and_by_command(name: str, bundle: Path, tmp_path: Path) -> None:
    assert main(["export", str(bundle), str(tmp_path / "command")]) == 0
    for folder in (result_of(name).export(tmp_path / "method"), tmp_path / "command"):
        index = json.loads((folder / "index.json").read_text())
        assert index["kind"] == kind_of(name)
        assert all((folder / file).stat().st_size for file in (*index["tables"], *index["pictures"]))
        assert str(wb.open(folder / "result.ortbench")) == str(result_of(name))


@every
@pytest.mark.usefixtures("own_home")
def test_it_is_in_the_history(name: str) -> None:
    result = result_of(name)
    result.keep()
    (row,) = wb.history().to_frame(kind=kind_of(name)).to_dict("records")
    opened = wb.history().open(row["id"])
    assert type(opened) is type(result)
    assert opened.about == result.about
    assert row["model"] == (None if result.about.model is None else result.about.model.name)


@every
@pytest.mark.usefixtures("without_plotly", "without_measured")
def test_it_is_in_the_page_of_its_comparison_and_in_the_panels(name: str, tmp_path: Path) -> None:
    kind, result = kind_of(name), result_of(name)
    assert "<h2>" in result.page_html()
    if kind in ALONE:
        return
    comparison = wb.Comparison(ordinary())
    comparison.add(result, "B")
    again = wb.open(comparison.save(tmp_path / "compared.ortbench"))
    label = None if KINDS.named(kind).per == "runs" else "B"
    made = again.made(kind, label)
    assert type(made) is type(result)
    assert made.to_frame().equals(comparison.made(kind, label).to_frame())
    assert made.about.model == result.about.model
    section = again.page_html().partition(f'<section id="{kind.replace(" ", "-")}">')[2]
    assert "<table>" in section.partition("</section>")[0] or not KINDS.named(kind).heading
    bench = wb.Workbench()
    bench.show(again)
    assert bench.state.has_part(kind)


@pytest.mark.parametrize("name", BY_HAND)
def test_it_is_offered_with_a_hint_in_a_tab_that_the_panels_have(name: str, panels: Any) -> None:
    offer = KINDS.named(name).offer
    listed = {tab for tab in panels.results.places if offer in KINDS.offered(tab)}
    assert listed == (set(offer.tabs) if offer.button else set())
    assert bool(offer.hint) >= bool(offer.button)


@pytest.mark.parametrize("name", [name for name in BY_HAND if name == TOY or KINDS.named(name).call])
def test_it_has_a_public_name_and_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    feature = KINDS.named(name)
    assert name == TOY or getattr(wb, feature.public_name) is feature.function
    with pytest.raises(SystemExit):
        main([feature.offer.command, "--help"])
    assert f"usage: workbench {feature.offer.command} " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert feature.offer.command in capsys.readouterr().out


def test_the_command_of_a_feature_makes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, saved = str(tiny.save(tiny.mlp(), tmp_path)), tmp_path / "one.ortbench"
    for arguments, degrees in (([], 40.0), (["--seed", "3"], 41.0)):
        assert main([TOY, model, "--a", "level=basic", "--json", "-o", str(saved), *arguments]) == 0
        assert json.loads(capsys.readouterr().out)["rows"] == [{"degrees": degrees}]
        assert wb.open(saved).record == WarmthRecord(degrees)
    assert KINDS.named(TOY).making_code(["b"], '"B"', {}) == 'result.add(wb.warmth(model, b), "B")'


@every
def test_it_is_json(name: str, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(bundle), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["id"] == result_of(name).about.id
    if kind_of(name) != "comparison":
        assert shown["kind"] == kind_of(name)
        assert shown["text"] == str(result_of(name))
        assert len(shown["rows"]) == len(result_of(name).to_frame())
    assert main(["schema", kind_of(name)]) == 0
    assert kind_of(name) in json.loads(capsys.readouterr().out)["title"]
