"""What a comparison says in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.factories.comparisons import comparison as drawn
from tests.factories.comparisons import drawn_run, failed, with_sample
from tests.factories.records import comparison
from tests.factories.runs import block, process, run
from workbench.core.bundle.comparison import Doubt, OutputAgreement, Verdict
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.measure.wording import (
    headline,
    in_short,
    load_in_words,
    outputs_in_words,
    report,
    sentence,
)

VERDICT = Verdict("B", "faster", 1.83, 1.79, 1.88, 0.95, 0.01, 5, False, "because")
HOSTILE = "\x1b]0;owned\x07\r\nB is 99× faster\u202e" + "x" * 1_000_000


def row(**changes: Any) -> OutputAgreement:
    return replace(OutputAgreement("B", "y", True, "equal", None, None, None, 0, 0), **changes)


def loading(load_s: float | None) -> Run:
    """Return a run of three processes, the slowest of which loads in a tenth more."""
    times_s = [] if load_s is None else [load_s, load_s * 1.05, load_s * 1.1]
    return run("A", [replace(process(1, [block(0.001)]), load_s=time_s) for time_s in times_s])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "B is 1.83× faster (95 % CI 1.79 to 1.88)"),
        (
            {"kind": "slower", "ratio": 0.5, "low": 0.4, "high": 0.8},
            "B is about 2× slower (95 % CI 1.3 to 2.5)",
        ),
        ({"kind": "tie", "ratio": 1.0, "low": 0.995, "high": 1.004}, "B and A are a tie: because"),
        (
            {"kind": "tie", "ratio": 0.999, "low": 0.993, "high": 1.005},
            "B and A are a tie: because (95 % CI 0.993 to 1.005)",
        ),
        ({"kind": "unknown"}, "B against A: because"),
        ({"kind": "unknown", "low": None, "high": None}, "B against A is unknown: because"),
        ({"clock": "cpu"}, "by processor time at one thread, B is 1.83× faster"),
        ({"provisional": True}, "provisional: B is 1.83× faster"),
        ({"low": None, "high": None}, "B is about 1.8× faster"),
        ({"ratio": 1.74, "low": 1.065, "high": 2.84}, "B is at least 1.07× faster (95 % CI 1.07 to 2.8)"),
    ],
)
def test_the_headline(changes: dict[str, Any], words: str) -> None:
    assert headline(replace(VERDICT, **changes)).startswith(words)


@pytest.mark.parametrize("ratio", [None, 0.5, 1.83])
def test_no_speed_stands_beside_outputs_that_differ(ratio: float | None) -> None:
    verdict = replace(VERDICT, kind="outputs differ", ratio=ratio, reason="B's outputs differ from A's")
    assert headline(verdict) == "B's outputs differ from A's"
    record = comparison()
    baseline, slow = (
        replace(run, processes=loading(load_s).processes)
        for run, load_s in zip(record.runs, (0.1, 9.0), strict=True)
    )
    record = replace(record, runs=(baseline, slow))
    assert "loads" in sentence(record, VERDICT)
    assert "loads" not in sentence(record, verdict)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "outputs were not compared"),
        ([row()], "outputs agree (equal to the last bit)"),
        ([row(max_abs_error=0.0)], "outputs agree (equal to the last bit)"),
        ([row(max_abs_error=1.0)], "outputs agree"),  # beyond the squares of doubles
        ([row(max_abs_error=1.0, sqnr_db=80.4), row(sqnr_db=60.0)], "outputs agree (SQNR 60 dB)"),
        ([row(agrees=None, reason="no numbers"), row()], "whether the outputs agree is unknown (no numbers)"),
        (
            [row(sqnr_db=20.0, least_sqnr_db=15.0)],
            "outputs are 10 % off (SQNR 20 dB, at least 15 asked for)",
        ),
        (
            [row(sqnr_db=140.0, least_sqnr_db=15.0)],
            "outputs are under 0.0001 % off (SQNR 140 dB, at least 15 asked for)",
        ),
        (
            [row(sqnr_db=-6166.0, least_sqnr_db=-7000.0)],  # of a foreign bundle: too much for a float
            "outputs are over 100 % off (SQNR -6166 dB, at least -7000 asked for)",
        ),
        ([row(agrees=False)], ""),
    ],
)
def test_outputs(rows: list[OutputAgreement], words: str) -> None:
    assert outputs_in_words("B", tuple(rows)) == words


def test_load_times_that_overlap_or_of_a_process_or_two_are_no_difference() -> None:
    once = run("B", [replace(process(1, [block(0.001)]), load_s=0.5)])
    assert load_in_words(loading(0.1), once) == ""
    scattered = run("B", [replace(process(1, [block(0.001)]), load_s=time_s) for time_s in (0.1, 0.5, 0.6)])
    assert load_in_words(loading(0.1), scattered) == ""


@pytest.mark.parametrize(
    ("before_s", "after_s", "words"),
    [
        (0.1, 0.35, "loads in 350 to 385 ms instead of 100 to 110 ms"),
        (12.0, 3.0, "loads in 3,000 to 3,300 ms instead of 12,000 to 13,200 ms"),
        (0.001, 0.02, ""),  # many times longer, and nobody would feel it
        (1.0, 1.1, ""),
        (None, 1.0, ""),
        (1.0, None, ""),
    ],
)
def test_load_time_where_it_matters(before_s: float | None, after_s: float | None, words: str) -> None:
    assert load_in_words(loading(before_s), loading(after_s)) == words


def test_a_stranger_s_texts_stay_in_their_line_and_short() -> None:
    record = replace(
        comparison(),
        verdicts=(replace(VERDICT, kind="unknown", reason=HOSTILE),),
        doubts=(Doubt(HOSTILE, None, HOSTILE, HOSTILE),),
    )
    assert sentence(record, record.verdict).isprintable()
    lines = report(record).split("\n")
    assert len(lines) == 3
    assert all(line.isprintable() and len(line) < 20_000 for line in lines)


def test_figures_that_point_elsewhere_than_the_verdict_say_why() -> None:
    a, b = drawn_run("A", 0.002), drawn_run("B", 0.0016)
    tie = report(drawn(a, b, kind="tie"))
    assert "but of all samples the median is 2" in tie
    assert "% lower in B: these mix rounds, and the verdict compares within each round" in tie
    assert "but of all samples the median is 2" in report(drawn(a, b, kind="slower"))
    assert "  but " not in report(drawn(a, b))
    assert "  but " not in report(drawn(a, drawn_run("B", 0.002), kind="tie"))


def test_figures_of_the_wall_clock_are_named_beside_a_verdict_on_processor_time() -> None:
    record = drawn(drawn_run("A", 0.002), drawn_run("B", 0.0016), kind="tie")
    text = report(replace(record, verdicts=(replace(record.verdict, clock="cpu"),)))
    assert "% lower in B: these are of the wall clock, and the verdict counts processor time" in text


def test_a_tail_that_points_elsewhere_is_said() -> None:
    slow = drawn_run("B", 0.0018)
    for _ in range(40):
        slow = with_sample(slow, 0.01)
    text = report(drawn(drawn_run("A", 0.002), slow))
    assert "but the mean of all samples is 9.8 % higher in B: slow runs weigh more in it" in text
    assert "but the slowest 1 in 100 (p99) are" in text
    assert "higher in B, unlike the runs in general" in text


def test_a_mean_of_a_multiple_is_written_without_an_exponent() -> None:
    told = report(drawn(drawn_run("A", 0.002), with_sample(drawn_run("B", 0.002), 5.0), kind="tie"))
    assert "but the mean of all samples is 312 % higher in B" in told


@pytest.mark.parametrize(("stage", "words"), [("load", "B failed"), ("provider", "B did not run on CUDA")])
def test_a_run_that_failed_is_not_called_unsettled(stage: Any, words: str) -> None:
    broken = replace(failed("B"), config=Config(providers=["cuda"]))
    assert broken.failure is not None
    broken = replace(broken, failure=replace(broken.failure, stage=stage))
    assert in_short(drawn(drawn_run("A", 0.002), broken, kind="unknown")).endswith(f": {words}")
    assert in_short(drawn(drawn_run("A", 0.002), drawn_run("B", 0.002), kind="unknown")).endswith(
        "not settled"
    )
