"""What a command tells continuous integration: exit codes, Markdown and JUnit."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.factories.records import comparison
from workbench.cli.exit_codes import FINE, OPEN, WORSE, Check, checks_of, exit_code
from workbench.cli.summaries import junit, markdown
from workbench.records.comparison import ComparisonRecord, Doubt, Kind
from workbench.records.run import Failure


def judged(kind: Kind) -> ComparisonRecord:
    record = comparison()
    return replace(record, verdicts=(replace(record.verdict, kind=kind),), doubts=())


def code(record: ComparisonRecord, *fail_if: str) -> int:
    return exit_code(checks_of(record, fail_if, ["because"]))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("faster", FINE), ("tie", FINE), ("slower", WORSE), ("outputs differ", WORSE), ("unknown", OPEN)],
)
def test_a_verdict_has_an_exit_code_if_the_user_asked_for_it(kind: Kind, expected: int) -> None:
    assert code(judged(kind)) == FINE
    assert code(judged(kind), "slower", "differs", "unknown") == expected


def test_what_was_not_measured_never_passes() -> None:
    record = judged("unknown")
    failed = replace(record.runs[1], failure=Failure("load", "no kernel", "another one", ""), processes=())
    assert code(replace(record, runs=(record.runs[0], failed))) == OPEN


def test_a_provider_that_fell_back_is_not_measured() -> None:
    fallback = Doubt("fallback", "B", "CUDA is not available, it ran on the CPU", "install it")
    assert code(replace(judged("tie"), doubts=(fallback,))) == OPEN


def test_worse_comes_before_open() -> None:
    checks = [Check("first", OPEN, ""), Check("second", WORSE, ""), Check("third", FINE, "")]
    assert exit_code(checks) == WORSE
    assert exit_code(checks[:1]) == OPEN
    assert exit_code([]) == FINE


CHECKS = (
    Check("speed", WORSE, "3 % slower | <b>"),
    Check("error", FINE, "0.1 %"),
    Check("memory", OPEN, "unknown\x00"),
)


def test_markdown_has_checks_runs_and_doubts_without_foreign_markup() -> None:
    record = comparison()
    text = markdown(CHECKS, replace(record, model=replace(record.model, name="<script>`x`")))
    assert text.startswith(r"### \<script\>\`x\`: failed")
    assert r"| speed | failed | 3 % slower \| \<b\> |" in text
    assert text.count("| A |") == text.count("| B |") == 1


def test_junit_counts_failures_and_errors() -> None:
    suite = ElementTree.fromstring(junit(CHECKS, comparison()))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    failed, passed, unknown = suite
    assert [case.tag for case in (*failed, *passed, *unknown)] == ["failure", "system-out", "error"]
    assert failed[0].get("message") == "3 % slower | <b>"
