"""The exercises on tuning and deployment: right and wrong answers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import workbench as wb
from tests.executed import solved
from tests.factories import results
from workbench.apps import course
from workbench.core.config import Config
from workbench.core.measure.percentiles import Figure
from workbench.features.load.result import LoadTest
from workbench.features.tune.result import Study


def proven() -> Study:
    return Study(results.study())


def unproven() -> Study:
    return Study(replace(results.study(), best="A"))


def test_the_proven_config_is_the_answer() -> None:
    study = proven()
    assert course.check("10.a", study.best, study=study).passed
    assert "a better one was proven" in course.check("10.a", Config(), study=study).text
    assert "C is out (limit)" in course.check("10.a", Config(level="basic"), study=study).text
    assert "did not measure" in course.check("10.a", Config(level="layout"), study=study).text
    assert "no wb.Config" in course.check("10.a", "B", study=study).text


@pytest.mark.parametrize(("ratio", "passes"), [(1.25, True), (1.1, False)])
def test_a_config_near_the_best_is_enough(ratio: float, passes: bool) -> None:
    record = results.study()
    near = replace(record.candidates[1], label="D", config=Config(level="layout"), ratio=ratio)
    study = Study(replace(record, candidates=(*record.candidates, near)))
    result = course.check("10.a", Config(level="layout"), study=study)
    assert (result.correct, result.within_budget) == (True, passes)


def test_a_search_of_more_than_two_minutes_is_beyond_the_budget() -> None:
    study = Study(replace(results.study(), budget_s=300.0))
    assert "took 300 s of at most 120 s" in course.check("10.a", study.best, study=study).text


def test_without_a_proof_the_defaults_are_the_answer() -> None:
    study = unproven()
    assert course.check("10.a", study.best, study=study).passed
    other = study.record.candidates[1].config
    assert "nothing better than the defaults" in course.check("10.a", other, study=study).text


def test_a_promise_is_supported_by_the_interval() -> None:
    rows = LoadTest(results.load_test()).points
    p99 = Figure(0.004, 0.0038, 0.005, "p99")
    load = SimpleNamespace(points=[replace(row, p99=p99) for row in rows])
    for answer in (5, 5.5, 15):
        assert course.check("10.b", answer, load=load, callers=2).passed
    for answer, words in ((4.5, "reaches beyond"), (16, "worth little"), ("none", "no number")):
        assert words in course.check("10.b", answer, load=load, callers=2).text


def test_without_an_interval_nothing_is_promised() -> None:
    load = LoadTest(results.load_test())
    assert course.check("10.b", "none", load=load, callers=8).passed
    assert "promise nothing" in course.check("10.b", 5.0, load=load, callers=8).text


def written(study: Study) -> str:
    measured, verdict = study.record.selection, study.record.verdict
    assert verdict is not None
    return (
        f"{measured.model.name} on {measured.machine.cpu} with ONNX Runtime {measured.versions.onnxruntime}: "
        f"{verdict.ratio:.2f} ({verdict.low:.2f} to {verdict.high:.2f}); "
        f"{len(study.record.candidates) - 1} other configs."
    )


def test_a_whole_report_passes() -> None:
    assert course.check("10.c", written(proven()), study=proven()).passed
    defaults = written(proven()).replace("1.83 (1.79 to 1.88)", "the defaults stay")
    assert course.check("10.c", defaults, study=unproven()).passed


def test_the_solution_reports_what_is_known_of_a_large_effect() -> None:
    record = results.study()
    last = record.confirmations[-1]
    large = replace(last.verdict, ratio=None, low=2.7, high=None)
    study = Study(replace(record, confirmations=(replace(last, verdicts=(large,)),)))
    measured = record.selection
    facts = [measured.model.name, measured.machine.cpu, measured.versions.onnxruntime]
    assert study.record.verdict == large
    given = {"course": course, "study": study, "verdict": large, "facts": facts, "wb": wb}
    assert solved("10_tune_deploy_defend", "c-solution", **given).passed


@pytest.mark.parametrize(
    ("leave_out", "words"),
    [("1.83", "the ratio"), ("1.79", "the lower end"), ("1.88", "the upper end"), ("tiny", "the model")],
)
def test_what_a_report_lacks_is_named(leave_out: str, words: str) -> None:
    text = written(proven()).replace(leave_out, "")
    assert words in course.check("10.c", text, study=proven()).text
    assert "that the defaults stay" in course.check("10.c", text, study=unproven()).text
    assert "no text" in course.check("10.c", 1.83, study=proven()).text
