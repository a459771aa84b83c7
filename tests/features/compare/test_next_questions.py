"""What is asked next about a comparison, and what is offered where a run did not run on its provider."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.factories.comparisons import comparison, failed, ordinary
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import Run
from workbench.features.compare.next_questions import other_providers, questions_about

CUDA, OPENVINO = "CUDAExecutionProvider", "OpenVINOExecutionProvider"


def lacking(label: str, **settings: object) -> Run:
    """Return a run that did not run on its provider."""
    run = failed(label, "did not run on CUDA")
    assert run.failure is not None
    failure = replace(run.failure, stage="provider")
    return replace(run, failure=failure, config=wb.Config(providers=("cuda",), **settings))  # type: ignore[arg-type]


def compared(*runs: Run) -> ComparisonRecord:
    return comparison(ordinary().runs[0], *runs, kind="unknown")


def test_the_questions_fit_the_answer() -> None:
    record = ordinary()
    assert [*questions_about(record)] == ["explanation", "profile"]
    slower = replace(record, verdicts=(replace(record.verdict, kind="slower"),))
    assert questions_about(slower)["why slower"] == "Why is B slower?"
    differ = replace(record, verdicts=(replace(record.verdict, kind="outputs differ"),))
    assert next(iter(questions_about(differ))) == "first difference"
    b = replace(record.runs[1], config=wb.Config(precision=wb.DynamicInt8()))
    assert "accuracy" in questions_about(replace(record, runs=(record.runs[0], b)))


def test_providers_that_work_are_offered_in_place_of_the_one_that_does_not() -> None:
    record = compared(lacking("B"))
    assert [*other_providers(record, ())] == [], "without it, B is A"
    assert [*other_providers(record, (CUDA, OPENVINO))] == [("B", "on OpenVINO", (wb.Provider("openvino"),))]


def test_what_else_was_set_is_worth_a_comparison_without_the_provider() -> None:
    record = compared(lacking("B", allow_unknown=True), lacking("C", level="basic"))
    assert [*other_providers(record, ())] == [("C", "without CUDA", ())]


def test_another_environment_has_other_providers(tmp_path: object) -> None:
    record = compared(lacking("B", runtime=str(tmp_path)))
    assert [words for _, words, _ in other_providers(record, (OPENVINO,))] == ["without CUDA"]


def test_a_run_that_failed_otherwise_needs_no_other_provider() -> None:
    assert [*other_providers(compared(failed("B")), (OPENVINO,))] == []


@pytest.mark.parametrize(
    ("runs", "nothing"),
    [
        (ordinary().runs, False),
        ((ordinary().runs[0], failed("B")), True),
        ((failed("A"), ordinary().runs[1]), True),
        ((*ordinary().runs, failed("C")), False),
        (ordinary().runs[:1], False),
        ((failed("A"),), True),
    ],
)
def test_a_comparison_has_failed_where_there_is_nothing_to_compare(
    runs: tuple[Run, ...], nothing: bool
) -> None:
    assert replace(ordinary(), runs=runs).has_failed == nothing
