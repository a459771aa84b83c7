"""A run that failed: the last answer stays in reach, and what helps is offered beside the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import steps_of
from tests.apps.panels.test_answers import measured
from tests.core.models import tiny
from tests.factories.comparisons import failed
from workbench.apps.panels.actions import show_comparison
from workbench.apps.panels.tabs.answer_words import last_words
from workbench.core.errors import RunFailed
from workbench.core.measure.providers import ProviderState
from workbench.features.doctor.records import Survey

CUDA = wb.Config(providers=("cuda",))
WORKS = ProviderState("OpenVINOExecutionProvider", "works", "", (), "")


def lost(
    bench: wb.Workbench, answer: wb.Comparison, config: wb.Config = CUDA, stage: Any = "provider"
) -> Any:
    """Set B, and put a comparison into the results whose B failed at this stage."""
    bench.b = config
    failure = replace(failed("B", "did not run on CUDA").failure, stage=stage)  # type: ignore[type-var]
    runs = (answer.runs[0], replace(failed("B"), failure=failure, config=config))
    verdict = replace(answer.verdict, kind="unknown", ratio=None, low=None, high=None)
    result = wb.Comparison(replace(answer.record, runs=runs, verdicts=(verdict,)))
    bench.state.show_comparison(result, bench.request().subject)
    return result


def labels(bench: wb.Workbench) -> list[str]:
    """Return what is offered next."""
    return [*steps_of(bench.panels.results.place)]


def press(bench: wb.Workbench, label: str) -> None:
    steps_of(bench.panels.results.place)[label].click()


def surveyed(bench: wb.Workbench, *checks: ProviderState) -> None:
    """Let the doctor have found this."""
    doctor = wb.Doctor.__new__(wb.Doctor)
    object.__setattr__(doctor, "survey", Survey("1.31.1", "Release", (), checks, (), None))
    bench.state.doctor = doctor


def test_the_last_answer_is_offered_beside_a_failure_and_comes_back(bench: wb.Workbench) -> None:
    answer, place = measured(bench), bench.panels.results.place
    result = lost(bench, answer)
    assert bench.result is result
    words = last_words(bench.state)
    assert words.startswith("last: tiny, intra-op threads 1: 1.83× faster, ")
    assert words in place.why.value
    assert place.see.description == "show"
    assert place.see.tooltip.startswith("Set its model and its configs again")
    place.see.click()
    assert bench.result is answer
    assert bench.b == answer.runs[1].config
    assert last_words(bench.state) == "", "a failure is no answer to go back to"


def test_the_last_answer_before_several_failures_is_offered(bench: wb.Workbench) -> None:
    answer = measured(bench)
    lost(bench, answer)
    lost(bench, answer, wb.Config(level="basic"), "load")
    assert "1.83× faster" in last_words(bench.state)
    bench.set("level", "extended")
    assert "1.83× faster" in last_words(bench.state), "also while there is no answer at all"


def test_a_failure_without_an_earlier_answer_offers_none(bench: wb.Workbench) -> None:
    answer = measured(bench)
    bench.state.answer, bench.state.folded = replace(bench.state.answer, result=None), ()
    lost(bench, answer)
    assert last_words(bench.state) == ""
    assert bench.panels.results.place.see.layout.display == "none"


def test_a_candidate_that_was_measured_is_an_answer_beside_one_that_failed(bench: wb.Workbench) -> None:
    answer = measured(bench)
    bench.state.duplicate("B")
    result = wb.Comparison(replace(answer.record, runs=(*answer.runs, failed("C"))))
    bench.state.show_comparison(result, bench.request().subject)
    assert bench.result is result
    assert last_words(bench.state) == ""


def test_a_provider_that_never_ran_offers_the_doctor_then_what_works(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, compared = list[str](), list[wb.Config]()
    monkeypatch.setattr(bench, "look_at_machine", lambda: looked.append("here"))
    monkeypatch.setattr(bench, "compare", lambda: compared.append(bench.b))
    lost(bench, measured(bench))
    assert labels(bench) == ["Look at the machine", "Undo the last change"]
    press(bench, "Look at the machine")
    assert looked == ["here"]
    surveyed(bench, WORKS, replace(WORKS, name="CPUExecutionProvider"), replace(WORKS, state="fails"))
    assert labels(bench) == ["Compare on OpenVINO, at most 0.2 s", "Undo the last change"]
    press(bench, "Compare on OpenVINO, at most 0.2 s")
    assert compared == [wb.Config(providers=("openvino",))]


def test_what_else_b_has_is_compared_without_the_provider(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = list[wb.Config]()
    monkeypatch.setattr(bench, "compare", lambda: compared.append(bench.b))
    lost(bench, measured(bench), CUDA.replace(level="basic"))
    surveyed(bench)
    assert labels(bench)[0] == "Compare without CUDA, at most 0.2 s"
    press(bench, "Compare without CUDA, at most 0.2 s")
    assert compared == [wb.Config(level="basic")]


def test_undo_after_a_failure_brings_the_configs_back_with_their_answer(bench: wb.Workbench) -> None:
    answer = measured(bench)
    lost(bench, answer, wb.Config(level="basic"), "load")
    assert labels(bench) == ["Undo the last change"], "no provider is at fault"
    press(bench, "Undo the last change")
    assert bench.result is answer


def test_a_run_that_gave_nothing_offers_what_helps_and_a_stopped_one_nothing(bench: wb.Workbench) -> None:
    bench.b = CUDA
    bench.state.run_error = RunFailed("tiny: did not run on CUDA", "choose another provider")
    assert labels(bench) == ["Look at the machine", "Undo the last change"]
    bench.state.run_error = wb.Cancelled("it was stopped", "start it again")
    assert labels(bench) == []


def test_a_comparison_that_failed_says_nothing_about_how_long_one_takes(bench: wb.Workbench) -> None:
    answer, state = measured(bench), bench.state
    state.budget_s = None
    state.took_s = {("Compare", state.model.path): 1.2}
    time = bench.panels.run_row.time
    show_comparison(state, bench.request(), answer)
    assert "about 2 s" in time.value
    show_comparison(state, bench.request(), lost(bench, answer))
    assert "about 2 s" not in time.value


def test_what_b_keeps_is_named_when_another_model_is_opened(bench: wb.Workbench, tmp_path: Path) -> None:
    place = bench.panels.results.place
    assert "B has" not in place.words.value
    bench.b = wb.Config(intra_op_threads=1)
    assert "B has: intra-op threads 1." in place.words.value
    measured(bench)
    other = tmp_path / "other"
    other.mkdir()
    bench.load(str(tiny.save(tiny.conv_net(), other, "conv.onnx")), wait=True)
    assert "B keeps: intra-op threads 1." in place.words.value
    bench.set("level", "basic")
    assert "B keeps: " in place.words.value
    assert "level basic" in place.words.value
    bench.b = bench.a
    assert "B keeps" not in place.words.value
