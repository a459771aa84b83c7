"""A question with limits: yes, no, or not settled, each with its interval."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run, failed, ordinary
from workbench.core.bundle.kinds import Part
from workbench.core.bundle.preparation import Preparation
from workbench.core.errors import ConfigError


def compared() -> wb.Comparison:
    """A takes 2 ms, B 1.1 ms, 800 samples each."""
    return wb.Comparison(ordinary())


@pytest.mark.parametrize(
    ("limit_s", "answer", "label"), [(0.005, "yes", "B"), (0.0015, "yes", "B"), (0.0001, "no", None)]
)
def test_the_fastest_config_within_the_limit_is_the_best(
    limit_s: float, answer: str, label: str | None
) -> None:
    best = compared().best(max_p50_s=limit_s)
    assert (best.answer, best.label) == (answer, label)


def test_a_limit_inside_the_interval_is_not_settled() -> None:
    frame = compared().percentiles().set_index(["label", "figure"])
    row = frame.loc[("A", "p99_ms")]
    best = wb.Comparison(comparison(drawn_run("A", 0.002), failed("B"))).best(
        max_p99_s=row["high"] / 1e3 - 1e-6
    )
    assert best.answer == "not settled"
    assert [contender.passed for contender in best.contenders] == [None, False]
    assert "p99" in best.contenders[0].checks[0].reason
    assert "ORT refused the model" in str(best)


def test_a_percentile_without_enough_samples_is_not_settled() -> None:
    few = comparison(drawn_run("A", 0.002, blocks=2), drawn_run("B", 0.001, blocks=2))
    best = wb.Comparison(few).best(max_p99_s=1.0)
    assert best.answer == "not settled"
    assert "not enough samples" in str(best)


def test_wrong_outputs_are_no_answer() -> None:
    record = ordinary()
    differ = replace(record, verdicts=(replace(record.verdict, kind="outputs differ"),))
    best = wb.Comparison(differ).best(max_p50_s=0.005)
    assert (best.answer, best.label) == ("yes", "A")


def test_memory_and_accuracy_are_limits_too() -> None:
    peak = max(process.peak_rss_bytes or 0 for process in ordinary().runs[0].processes)
    assert compared().best(max_memory_bytes=peak).answer == "yes"
    assert compared().best(max_memory_bytes=1).answer == "no"
    asked = compared().best(max_accuracy_drop=0.03)
    assert [contender.passed for contender in asked.contenders] == [None, None]
    assert "result.accuracy(data)" in str(asked)
    result = wb.Comparison(ordinary(), parts=(Part("accuracy", examples.accuracy(), None),))
    assert result.best(max_accuracy_drop=0.03).label == "B"
    assert result.best(max_accuracy_drop=0.005).label == "A"


def test_the_size_of_the_file_is_a_limit_too() -> None:
    record = ordinary()
    size = record.model.graph_bytes + record.model.external_bytes
    prepared = replace(record.runs[1], preparation=Preparation((), None, 0.0, size // 4, None, ()))
    result = wb.Comparison(replace(record, runs=(record.runs[0], prepared)))
    passed = [contender.passed for contender in result.best(max_file_bytes=size // 2).contenders]
    assert passed == [False, True]
    assert result.best(max_file_bytes=size).answer == "yes"
    assert result.best(max_file_bytes=1).answer == "no"


def test_a_sweep_gives_the_point_with_most_items_a_second() -> None:
    best = wb.Sweep(examples.sweep(), examples.about()).best(max_p99_s=0.010)
    winner = best.winner()
    assert winner is not None
    assert (winner.label, winner.place) == ("A", "batch 8")
    near = wb.Sweep(examples.sweep(), examples.about()).best(max_p99_s=0.003).winner()
    assert near is not None
    assert near.place == "batch 1"
    assert set(best.to_frame()["place"]) == {"batch 1", "batch 8", "batch 32"}


def test_a_sweep_and_a_matrix_judge_the_accuracy_that_they_keep() -> None:
    accuracy = examples.accuracy()
    for made, model in ((wb.Sweep, "model"), (wb.Matrix, "tiny")):
        record = examples.sweep() if made is wb.Sweep else examples.matrix()
        kept = (Part("accuracy", replace(accuracy, model_name=model), None),)
        result = made(record, examples.about(), parts=kept)  # type: ignore[arg-type]
        rows = [row for row in result.best(max_accuracy_drop=0.005).contenders if row.median_s is not None]
        by_label = {row.label: row.passed for row in rows[:2]}
        assert by_label == {"A": True, "B": None}
        assert "points" in rows[1].checks[-1].reason
        assert made(record, examples.about()).best(max_accuracy_drop=0.005).answer != "yes"  # type: ignore[arg-type]


def test_a_matrix_answers_for_each_model() -> None:
    best = wb.Matrix(examples.matrix(), examples.about()).best(max_p99_s=0.010)
    assert best.groups == ("tiny", "gone") or best.groups == ("tiny", "small", "gone")
    assert best.answer == "no", "one model could not be measured"
    assert best.to_frame()["best"].sum() >= 1


@pytest.mark.parametrize(
    "limits",
    [{}, {"max_p99_s": 0}, {"max_p99_s": "1"}, {"max_p50_s": float("nan")}, {"max_memory_bytes": True}],
)
def test_what_is_no_limit_is_refused(limits: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="limit"):
        wb.Matrix(examples.matrix(), examples.about()).best(**limits)  # type: ignore[arg-type]
