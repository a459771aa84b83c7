"""No number stands under a name that it does not belong to: an answer folds, and comes back whole."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle, steps_of
from tests.core.models import tiny
from tests.factories import results as examples
from tests.factories.comparisons import failed, ordinary
from workbench.apps.panels import reopening
from workbench.apps.panels.jobs import JobView
from workbench.apps.panels.tabs.answer_words import last_words, missing_words
from workbench.apps.panels.tabs.history import HistoryPage
from workbench.core.bundle.comparison import STOPPED, Doubt
from workbench.core.bundle.entries import clock_text


def of_model(model: Any, **changes: Any) -> wb.Comparison:
    """Return an ordinary comparison of a model."""
    return wb.Comparison(replace(ordinary(), model=model.record(), **changes))


def measured(bench: wb.Workbench) -> wb.Comparison:
    """Put a comparison of what is set into the results."""
    result = of_model(bench.state.model)
    bench.b = result.runs[1].config
    bench.state.show_comparison(result, bench.request().subject)
    return result


def test_another_model_folds_the_answer_to_one_line(bench: wb.Workbench, tmp_path: Path) -> None:
    result, panels = measured(bench), bench.panels
    assert bench.result is result
    place = panels.results.place
    assert place.see.layout.display == "none"
    other = tmp_path / "other"
    other.mkdir()
    bench.load(str(tiny.save(tiny.conv_net(), other, "conv.onnx")), wait=True)
    settle(bench)
    assert bench.result is None
    words, when = last_words(bench.state), clock_text(result.record.created_utc)
    assert words.startswith("last: tiny, ")
    assert words.endswith(f": 1.83× faster, {when}")
    assert words in place.why.value
    assert "1.83" not in place.words.value
    assert "Pick a model" not in place.words.value
    bench.state.model = None
    assert "Pick a model" in place.words.value
    place.see.click()
    assert bench.state.model.name == "tiny"
    assert bench.result is result
    assert last_words(bench.state) == ""


def test_other_configs_and_inputs_fold_it_and_setting_them_back_shows_it(bench: wb.Workbench) -> None:
    result = measured(bench)
    asked = bench.request().subject
    bench.set("level", "disabled")
    assert bench.result is None
    bench.state.undo()
    assert bench.result is result, "undo brings it back"
    bench.state.seed = 7
    assert bench.result is None
    bench.panels.results.place.see.click()
    assert bench.result is result
    assert bench.request().subject == asked


def test_what_was_made_without_a_comparison_folds_too(bench: wb.Workbench) -> None:
    bench.state.show_parts(bench.request(), {"levels/B": wb.Levels(examples.levels())}, "levels")
    bench.set("level", "basic")
    assert bench.state.held_parts("levels") == {}
    assert last_words(bench.state) == "last: tiny, levels"
    bench.state.undo()
    assert list(bench.state.held_parts("levels")) == ["B"]


def test_what_was_made_after_something_else_was_set_comes_back_together(bench: wb.Workbench) -> None:
    state, asked = bench.state, bench.request()
    state.show_parts(asked, {"levels/B": wb.Levels(examples.levels())}, "levels")
    bench.set("level", "basic")
    state.show_parts(asked, {"load test": object()}, "load test")
    state.show_comparison(result := of_model(state.model), asked.subject, "the code")
    state.show_parts(asked, {"accuracy": object()}, "accuracy")
    assert len(state.folded) == 1
    state.undo()
    assert list(state.parts) == ["levels/B", "load test", "accuracy"]
    assert (state.result, state.answer.code) == (result, "the code")
    assert state.folded == ()


def test_a_comparison_that_ends_after_something_else_was_set_is_folded(bench: wb.Workbench) -> None:
    asked, result = bench.request().subject, of_model(bench.state.model)
    bench.set("level", "disabled")
    bench.state.show_comparison(result, asked)
    assert bench.result is None
    bench.state.undo()
    assert bench.result is result


def test_a_comparison_from_elsewhere_brings_its_configs_and_closes_another_model(bench: wb.Workbench) -> None:
    first = measured(bench)
    stranger = wb.Comparison(replace(ordinary(), model=replace(ordinary().model, name="theirs")))
    bench.set("level", "disabled")
    bench.show(stranger, wait=True)
    assert bench.result is stranger
    assert bench.state.model is None
    assert list(bench.state.configs.values()) == [run.config for run in stranger.runs]
    assert missing_words(bench.state).startswith("This is of theirs, ")
    with pytest.raises(wb.WorkbenchError, match="No model is open"):
        bench.compare()
    bench.load(str(bench.state.recent[0]), wait=True)
    assert bench.result is None
    assert last_words(bench.state).startswith("last: theirs, ")
    assert [answer.result for answer in bench.state.folded] == [first, stranger]


def test_a_model_of_the_same_name_is_not_the_same_model(bench: wb.Workbench) -> None:
    result = of_model(bench.state.model)
    other = replace(result.record.model, sha256="0" * 64)
    bench.show(wb.Comparison(replace(result.record, model=other)), wait=True)
    assert bench.state.model is None


def test_a_comparison_on_inputs_of_other_sizes_says_so(bench: wb.Workbench) -> None:
    model = bench.state.model
    line = bench.panels.results.place.why
    bench.show(of_model(model, inputs=model.inputs(batch=5).record()), wait=True)
    settle(bench)
    assert bench.result is not None
    assert "This was measured on random, seed 0; other inputs are set now." in line.value
    bench.show(of_model(model, inputs=model.inputs().record()), wait=True)
    settle(bench)
    assert "other inputs" not in line.value


def test_a_comparison_whose_inputs_cannot_be_made_here_is_shown_and_says_why(bench: wb.Workbench) -> None:
    model, place = bench.state.model, bench.panels.results.place
    inputs = replace(model.inputs().record(), shapes=(("x", "float32[99999999999,4]"),))
    for is_open in (True, False):
        result = of_model(model, inputs=inputs)
        if not is_open:
            bench.state.model = None
        bench.show(result, wait=True)
        settle(bench)
        assert bench.result is result
        assert bench.state.model is not None
        assert not result.has_model
        assert "1.83" in place.words.value
        assert "would take 1.6 TB" in place.why.value
        assert bench.state.bug == ""


def held_levels(bench: wb.Workbench) -> list[str]:
    return list(bench.state.held_parts("levels"))


def test_parts_beside_an_answer_that_cannot_be_attached_come_back_with_their_inputs(
    bench: wb.Workbench,
) -> None:
    shapes = (("x", "float32[99999999999,4]"),)
    inputs = replace(bench.state.model.inputs().record(), shapes=shapes)
    bench.show(of_model(bench.state.model, inputs=inputs), wait=True)
    bench.state.show_parts(bench.request(), {"levels/B": wb.Levels(examples.levels())}, "levels")
    assert held_levels(bench) == ["B"]
    bench.state.seed = 7
    assert held_levels(bench) == [], "it was made with other inputs"
    bench.state.seed = 0
    assert held_levels(bench) == ["B"]


def test_what_was_made_of_the_same_stands_beside_a_comparison_that_is_reopened(bench: wb.Workbench) -> None:
    result = of_model(bench.state.model)
    bench.b = result.runs[1].config
    bench.state.show_parts(bench.request(), {"levels/B": wb.Levels(examples.levels())}, "levels")
    bench.show(result, wait=True)
    assert bench.result is result
    assert held_levels(bench) == ["B"]
    bench.state.seed = 7
    assert held_levels(bench) == []
    bench.state.seed = 0
    assert bench.result is result
    assert held_levels(bench) == ["B"]


def test_an_answer_is_not_about_what_is_changed_while_its_model_is_attached(bench: wb.Workbench) -> None:
    class Slow(wb.Comparison):
        """A comparison while whose inputs are made a person changes a config."""

        def attach(self, *arguments: Any, **how: Any) -> Any:
            bench.set("level", "layout")
            return super().attach(*arguments, **how)

    result = Slow(of_model(bench.state.model).record)
    bench.show(result, wait=True)
    assert bench.b.level == "layout"
    assert bench.result is None
    bench.state.undo()
    assert bench.result is result
    assert bench.state.answer.subject == bench.request().subject


def test_sizes_of_axes_without_a_name_come_back_with_a_comparison(
    bench: wb.Workbench, tmp_path: Path
) -> None:
    proto = tiny.mlp()
    proto.graph.input[0].type.tensor_type.shape.dim[0].ClearField("dim_param")
    bench.load(str(tiny.save(proto, tmp_path, "unnamed.onnx")), wait=True)
    model = bench.state.model
    place = f"{proto.graph.input[0].name}.0"
    result = of_model(model, inputs=model.inputs(**{place: 5}).record())
    bench.state.model = None
    bench.show(result, wait=True)
    settle(bench)
    assert bench.state.model.name == "unnamed"
    assert bench.state.dims == ((place, 5),)


def test_open_in_the_history_finds_the_model_its_inputs_and_attaches_it(
    bench: wb.Workbench, own_home: Path, tmp_path: Path
) -> None:
    del own_home
    model = bench.state.model
    inputs = model.inputs(seed=3, batch=5).record()
    wb.history().add(of_model(model, inputs=inputs).record)
    other = tmp_path / "other"
    other.mkdir()
    bench.load(str(tiny.save(tiny.conv_net(), other, "conv.onnx")), wait=True)
    page = HistoryPage(bench)
    page.show()
    assert page.table is not None
    page.table.picked = [page.table.rows[0][-1]]
    page.buttons["Open"].click()
    settle(bench)
    finding = bench.finding.running
    if finding is not None:
        finding.finished.wait()
    settle(bench)
    assert bench.state.model.name == "tiny"
    assert (bench.state.dims, bench.state.seed) == ((("batch", 5),), 3)
    assert bench.result.has_model
    assert bench.state.answer.subject == bench.request().subject
    assert missing_words(bench.state) == ""
    bench.state.dims = ()
    assert bench.result is None


def test_a_model_that_is_asked_for_and_another_answer_need_not_wait_for_a_search(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, find_model = threading.Event(), reopening.find_model

    def find_later(*asked: Any) -> Any:
        go_on.wait()
        return find_model(*asked)

    monkeypatch.setattr(reopening, "find_model", find_later)
    path, own = bench.state.recent[0], of_model(bench.state.model)
    stranger = wb.Comparison(replace(ordinary(), model=replace(ordinary().model, name="theirs")))
    bench.show(stranger)
    bench.load(path, wait=True)
    assert bench.state.model.name == "tiny"
    search = bench.finding.running
    go_on.set()
    search.finished.wait()
    assert bench.state.model.name == "tiny"

    go_on.clear()
    again = wb.Workbench()
    again.show(stranger)
    first = again.finding.running
    again.show(own)
    go_on.set()
    first.finished.wait()
    second = again.finding.running
    if second is not None:
        second.finished.wait()
    assert again.state.model.name == "tiny"
    assert again.result is own

    go_on.clear()
    third = wb.Workbench()
    third.show(wb.Comparison(of_model(bench.state.model).record))
    first = third.finding.running
    third.show(stranger)
    third.set("level", "extended")  # which folds it
    go_on.set()
    first.finished.wait()
    settle(third)
    assert third.state.model is None, "the model of another answer than the last one"


def test_opening_the_same_file_again_keeps_the_answer(bench: wb.Workbench) -> None:
    result, model = measured(bench), bench.state.model
    bench.load(str(model.path), wait=True)
    settle(bench)
    assert bench.result is result
    assert bench.state.model is model
    model.path.write_bytes(model.path.read_bytes() + b"\x32\x00")  # an empty documentation string
    bench.load(str(model.path), wait=True)
    settle(bench)
    assert bench.result is None, "another file by now"


def test_a_run_that_failed_is_not_measured_longer(bench: wb.Workbench) -> None:
    result, place = measured(bench), bench.panels.results.place
    verdict = replace(result.verdict, kind="unknown", reason="too few rounds")
    for runs, offered in (
        (result.runs, True),
        ((result.runs[0], replace(failed("B", "no node would run"), config=result.runs[1].config)), False),
    ):
        open_one = wb.Comparison(replace(result.record, runs=runs, verdicts=(verdict,)))
        bench.state.show_comparison(open_one, bench.request().subject)
        labels = [*steps_of(place)]
        assert any(label.startswith("Measure longer") for label in labels) == offered


def test_measuring_longer_takes_the_budget_that_is_set(bench: wb.Workbench) -> None:
    result, place = measured(bench), bench.panels.results.place
    verdict = replace(result.verdict, kind="unknown", reason="too few rounds")
    result = wb.Comparison(replace(result.record, verdicts=(verdict,)))
    bench.state.show_comparison(result, bench.request().subject)
    for budget_s, words in ((1.0, "1 s"), (20.0, "20 s"), (None, "30 s")):
        bench.state.budget_s = budget_s
        assert next(iter(steps_of(place))) == f"Measure longer, {words}"


def test_an_answer_that_was_stopped_says_so(bench: wb.Workbench) -> None:
    place = bench.panels.results.place
    measured(bench)
    doubt = Doubt(STOPPED, None, "stopped on request, 4 rounds kept", "measure longer")
    bench.state.show_comparison(of_model(bench.state.model, doubts=(doubt,)), bench.request().subject)
    assert "Stopped on request, 4 rounds kept." in place.why.value
    bench.state.job = JobView("Explain A and B", "starting", 0.0)
    bench.state.job = None
    assert "Stopped on request, 4 rounds kept." in place.why.value, "another job changes nothing of it"
    bench.state.show_comparison(of_model(bench.state.model), bench.request().subject)
    assert "Stopped" not in place.why.value


def test_an_answer_whose_reason_was_not_looked_for_to_the_end_was_not_stopped(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop was pressed when everything was measured, while the runs were explained."""
    result = of_model(bench.state.model)

    def stop(*_: Any, **__: Any) -> None:
        bench.cancel()
        raise wb.Cancelled("it was stopped", "start it again")

    monkeypatch.setattr(result, "examine", stop)
    monkeypatch.setattr("workbench.compare", lambda *_, **__: result)
    monkeypatch.setattr("workbench.apps.panels.actions.why_is_cheap", lambda _: True)
    place = bench.panels.results.place
    bench.b = result.runs[1].config
    bench.compare(wait=True)
    settle(bench)
    assert bench.result is result
    assert "What differs" in place.why.value
    assert "Stopped" not in place.why.value


def test_the_code_of_what_was_made_is_not_that_of_what_is_folded(bench: wb.Workbench) -> None:
    state, load_test = bench.state, {"load test": object()}
    state.forms = {"load test": {"callers": "1, 3"}}
    state.show_parts(bench.request(), load_test, "load test")
    code = bench.card_code("result", "load test")
    assert "callers=[1, 3]" in code
    state.forms = {"load test": {"callers": "5"}}
    configs = {**bench.state.configs, "B": wb.Config(level="basic")}
    other = replace(bench.request(), subject=replace(bench.request().subject, configs=configs))
    state.show_parts(other, load_test, "load test")
    assert bench.card_code("result", "load test") == code
    bench.b = wb.Config(level="basic")
    assert "callers=5" in bench.card_code("result", "load test").replace("[", "")
    bench.b = wb.Config()
    assert bench.card_code("result", "load test") == code


def test_a_comparison_that_ends_late_leaves_the_forms_of_the_parts_beside_it(bench: wb.Workbench) -> None:
    state = bench.state
    for level, callers in (("basic", "5"), ("extended", "1, 3")):
        bench.b = wb.Config(level=level)  # type: ignore[arg-type]
        state.forms = {"load test": {"callers": callers}}
        state.show_parts(bench.request(), {"load test": object()}, "load test")
    compared = bench.request().subject
    bench.b = wb.Config(level="basic")
    state.show_comparison(of_model(state.model), compared, "code")
    bench.b = wb.Config(level="extended")
    assert bench.result is not None
    assert "callers=[1, 3]" in bench.card_code("result", "load test")


class Slow(wb.Comparison):
    """A comparison whose picture waits, in the thread of that name, until `go_on` is set."""

    began, go_on = threading.Event(), threading.Event()

    def time_elsewhere(self) -> Any:
        if threading.current_thread().name == "slow":
            self.began.set()
            self.go_on.wait()
        return super().time_elsewhere()


def test_an_answer_that_a_slow_thread_draws_is_gone_when_something_else_is_set(bench: wb.Workbench) -> None:
    place, result = bench.panels.results.place, Slow(measured(bench).record)
    bench.state.show_comparison(result, bench.request().subject)
    assert "1.83" in place.words.value
    slow = threading.Thread(target=setattr, args=(bench.state, "made", ("",)), name="slow")
    slow.start()
    result.began.wait()
    other = threading.Thread(target=setattr, args=(bench, "b", wb.Config(level="basic")))
    other.start()
    other.join(0.2)  # it waits for the slow thread
    result.go_on.set()
    slow.join()
    other.join()
    assert bench.result is None
    assert "1.83" not in place.words.value


def test_an_export_that_was_stopped_is_not_the_answer(bench: wb.Workbench) -> None:
    measured(bench)
    place = bench.panels.results.place
    bench.state.job = JobView("Export HTML", "drawing", 0.0)
    bench.state.job = JobView("Export HTML", "drawing", 1.0, cancelling=True)
    bench.state.job = None
    assert "Stopped" not in place.why.value
