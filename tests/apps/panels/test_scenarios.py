"""The scenarios tab: a line for each kind with a form, what its button asks for, and its code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

import workbench as wb
from tests.apps.panels.conftest import line_of, settle
from tests.core.models import decoders, tiny
from tests.factories import results as examples
from workbench.apps.panels.tabs.form import AxesField, FormLine
from workbench.apps.panels.tabs.tab import TabPage
from workbench.apps.panels.tabs.views import EXPLORE
from workbench.core.errors import Cancelled
from workbench.features.base.registry import KINDS

LINES = ["sweep", "matrix", "versions", "load test", "decoding"]
FUNCTIONS = {
    "sweep": ("workbench.features.grid.calls.sweep", "wb.sweep("),
    "matrix": ("workbench.features.grid.calls.matrix", "wb.matrix("),
    "versions": ("workbench.features.variants.versions.compare_versions", "wb.compare_versions("),
    "load test": ("workbench.features.load.call.load_test", "wb.load_test("),
    "decoding": ("workbench.features.decode.call.decode", "wb.decode("),
}
Calls = list[tuple[tuple[Any, ...], dict[str, Any]]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """What the public functions were called with."""
    received: Calls = []
    for kind, (place, _) in FUNCTIONS.items():
        made = examples.further()[kind]

        def call(*arguments: Any, made: Any = made, **options: Any) -> Any:
            received.append((arguments, options))
            return made

        monkeypatch.setattr(place, call)
    return received


def line(bench: wb.Workbench, kind: str) -> FormLine:
    return FormLine(bench, KINDS.named(kind).offer)


def press(bench: wb.Workbench, pressed: FormLine) -> None:
    pressed.run.click()
    if (job := bench.jobs.running) is not None:
        job.finished.wait()
    settle(bench)


def test_every_kind_with_a_form_is_explored(bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(LINES) <= {offer.name for offer in EXPLORE.offers if offer.has_form}
    assert [line(bench, kind).run.description for kind in LINES] == [
        "Sweep", "Matrix", "Versions", "Load test", "Decode"
    ]  # fmt: skip
    monkeypatch.setattr("workbench.features.load.result.usable_cores", lambda: 4)
    assert line(bench, "load test").fields["callers"].value == "1, 2, 4, 8"


def test_a_form_reads_as_a_sentence_whose_examples_fit_the_open_model(
    bench: wb.Workbench, tmp_path: Path
) -> None:
    decoding, sweep = line(bench, "decoding"), line(bench, "sweep")
    words = [field.description for field in decoding.fields.values()]
    assert words == ["Run a prompt of", "tokens and", "new ones, in batches of", "or with prompts of"]
    assert decoding.fields["prompt"].placeholder == "128"
    (name, values), (_, further) = sweep.fields["sizes"].pairs
    assert (name.description, values.description) == ("Run all configs over", "at")
    proto = decoders.decoder(cached=False)
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    proto.graph.initializer.append(numpy_helper.from_array(np.zeros((20, 2), np.float32), "wpe"))
    bench.load(str(tiny.save(proto, tmp_path, "text.onnx")), wait=True)
    settle(bench)
    examples_now = [field.placeholder for field in decoding.fields.values()]
    assert examples_now == ["10", "10", "1", "2, 10"]
    assert (name.placeholder, values.placeholder) == ("sequence", "5, 10, 20")
    assert further.placeholder == "", "a further axis has no example"
    name.value = "threads"
    assert values.placeholder == "1, 2, 4"
    name.value = ""
    assert values.placeholder == "5, 10, 20"


def test_the_load_test_takes_what_was_typed(bench: wb.Workbench, calls: Calls) -> None:
    bench.set("intra_op_threads", 1)
    pressed = line(bench, "load test")
    pressed.fields["callers"].value = "1, 3"
    pressed.fields["rate_hz"].value = "50"
    press(bench, pressed)
    ((model, *configs), options) = calls[0]
    assert model.name == "tiny"
    assert configs == [bench.a, bench.b]
    assert (options["callers"], options["sessions"], options["rate_hz"]) == ([1, 3], [1], [50.0])
    assert (options["duration_s"], options["keep"]) == (2.0, True)
    assert options["cancel"] is not None
    assert options["progress"] is not None
    assert pressed.run.description.startswith("Load test again, about"), "as long as it took"


def test_a_sweep_goes_over_the_chosen_axes(bench: wb.Workbench, calls: Calls) -> None:
    pressed = line(bench, "sweep")
    field = pressed.fields["sizes"]
    assert isinstance(field, AxesField)
    (first, sizes), (second, values) = field.pairs
    assert {"batch", "threads", "level"} <= set(first.options)
    first.value, sizes.value = "batch", "1, 2"
    second.value = "level"
    assert values.placeholder == "disabled, basic, extended, layout, all"
    values.value = "basic, all"
    assert bench.state.forms["sweep"]["sizes"] == "batch=1, 2; level=basic, all"
    press(bench, pressed)
    assert calls[0][1]["sizes"] == {"batch": [1, 2], "level": ["basic", "all"]}
    assert calls[0][1]["budget_s"] == 0.2


def test_an_axis_whose_name_has_a_semicolon_is_shown_as_it_is_read(bench: wb.Workbench) -> None:
    field = line(bench, "sweep").fields["sizes"]
    bench.state.set_form("sweep", "sizes", "a;b=1, 8; level=all")
    assert [(name.value, values.value) for name, values in field.pairs] == [("a;b", "1, 8"), ("level", "all")]


def test_the_matrix_has_the_open_model_and_others_under_every_column(
    bench: wb.Workbench, calls: Calls
) -> None:
    bench.state.set_configs({"A": wb.Config(), "B": wb.Config(level="basic"), "C": wb.Config(spinning=False)})
    pressed = line(bench, "matrix")
    pressed.fields["models"].value = "digits-conv, mobilenetv2"
    press(bench, pressed)
    (models, configs), _ = calls[0]
    assert (models[0].name, *models[1:]) == ("tiny", "digits-conv", "mobilenetv2")
    assert configs == list(bench.state.configs.values())


def test_versions_need_environments_and_take_the_config_shown(bench: wb.Workbench, calls: Calls) -> None:
    bench.set("level", "basic")
    pressed = line(bench, "versions")
    pressed.run.click()
    assert "versions is empty" in pressed.status.value
    assert calls == []
    pressed.fields["environments"].value = "/x/ort117"
    press(bench, pressed)
    (_, environments, config), _ = calls[0]
    assert (environments, config) == ([None, "/x/ort117"], bench.b)


def test_a_release_is_searched_between_versions_without_this_one(bench: wb.Workbench, calls: Calls) -> None:
    pressed = line(bench, "versions")
    pressed.fields["environments"].value = "1.20.1, 1.27.0"
    pressed.fields["bisect"].value = "maybe"
    pressed.run.click()
    assert "bisect: &#x27;maybe&#x27; cannot be read" in pressed.status.value
    for answer, places in (("yes", ["1.20.1", "1.27.0"]), ("no", [None, "1.20.1", "1.27.0"])):
        pressed.fields["bisect"].value = answer
        press(bench, pressed)
        (_, environments, _), options = calls[-1]
        assert (environments, options["bisect"]) == (places, answer == "yes")


def test_what_cannot_be_read_is_said_beside_the_button(bench: wb.Workbench, calls: Calls) -> None:
    pressed = line(bench, "decoding")
    pressed.fields["tokens"].value = "many"
    pressed.run.click()
    assert "tokens: &#x27;many&#x27; cannot be read" in pressed.status.value
    assert calls == []
    assert bench.state.job is None


@pytest.mark.parametrize("kind", LINES)
def test_the_code_is_the_call(bench: wb.Workbench, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.b = wb.Config(level="basic")
    bench.state.forms = {"versions": {"environments": "/x/y"}, "sweep": {"sizes": "batch=1, 2"}}
    copied: list[str] = []
    monkeypatch.setattr(bench.page, "copy", lambda text, _: copied.append(text))
    line(bench, kind).copy.click()
    compile(copied[0], "code", "exec")
    assert f"result = {FUNCTIONS[kind][1]}" in copied[0]
    assert 'b = wb.Config(level="basic")' in copied[0]
    assert ("a = wb.Config()" in copied[0]) == (kind != "versions"), "versions is about the config shown"


def test_a_result_stands_in_the_tab_and_its_code_has_what_was_typed(
    bench: wb.Workbench, calls: Calls
) -> None:
    bench.state.forms = {"sweep": {"sizes": "batch=1, 2"}}
    bench.run("sweep", wait=True)
    settle(bench)
    results = bench.panels.results
    results.turn("Explore", "sweep")
    settle(bench)
    page: Any = results.pages["Explore"]
    assert isinstance(page, TabPage)
    assert list(page.cards) == ["sweep"]
    form, card = line_of(page, "sweep").widget, page.cards["sweep"].widget
    assert [*page.content.children] == [form, card], "the form stands above"
    bench.state.forms = {}
    assert 'sizes={"batch": [1, 2]}' in bench.card_code("result", "sweep")
    assert len(calls) == 1


def test_a_scenario_can_be_cancelled(bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    def load_test(*_: Any, cancel: Any, **__: Any) -> Any:
        assert cancel.wait(20)
        raise Cancelled("stopped", "again")

    monkeypatch.setattr("workbench.features.load.call.load_test", load_test)
    bench.run("load test")
    bench.cancel()
    job = bench.jobs.running
    if job is not None:
        job.finished.wait()
    settle(bench)
    assert isinstance(bench.state.run_error, Cancelled)
    assert bench.state.parts == {}
