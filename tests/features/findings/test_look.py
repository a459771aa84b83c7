"""Asking all rules: what is missing is listed, what fails costs nothing else, large gains stand first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest

import workbench as wb
from tests.features.findings.evidence import evidence
from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.features.base.registry import KINDS
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.record import (
    FindingRecord,
    FindingsRecord,
    Gain,
    NotLooked,
    Subject,
    check_findings,
)
from workbench.features.findings.rule import FAMILIES, look, rules

NODES = [
    ("m", "MatMul", ("x", "w"), 60),
    ("s", "SkipLayerNormalization", ("m",), 30),
    ("e", "Einsum", ("s",), 10),
]


def test_the_largest_gain_stands_first_and_every_rule_is_accounted_for() -> None:
    record = look(evidence(NODES))
    assert [finding.id for finding in record.findings][:2] == ["skip-layer-norm-slow", "einsum"]
    assert {*record.looked, *(entry.id for entry in record.not_looked)} == {rule.id for rule in rules()}
    assert {"slow-load", "denormal-weights"} <= {entry.id for entry in record.not_looked}


@pytest.mark.parametrize("subject", get_args(Subject))
def test_a_finding_on_any_subject_has_its_place(subject: Subject) -> None:
    (first, *_) = look(evidence(NODES)).findings
    about = replace(first, gain=Gain(subject, None, None, None, None))

    def finds(_: Evidence) -> Iterator[FindingRecord]:
        yield from (about, first)

    ranked = look(evidence(NODES), [replace(rules()[0], id="about", needs=(), find=finds)]).findings
    assert {finding.gain for finding in ranked} == {about.gain, first.gain}
    assert {finding.id for finding in ranked} == {"about"}


def test_a_rule_that_fails_is_a_line_with_its_cause() -> None:
    def breaks(_: Evidence) -> Iterator[FindingRecord]:
        raise KeyError("nobody thought of this")
        yield

    broken = replace(rules()[0], id="broken", needs=(), find=breaks)
    record = look(evidence(NODES), (broken, *rules()))
    (line,) = [entry for entry in record.not_looked if entry.id == "broken"]
    assert "KeyError" in line.reason
    assert record.findings == look(evidence(NODES)).findings


def test_every_rule_says_what_it_is_and_where_it_is_known_from() -> None:
    assert {rule.family for rule in rules()} == set(FAMILIES)
    for rule in rules():
        assert rule.meaning.endswith(".")
        assert rule.recognised
        assert rule.advice
        assert rule.source


def test_findings_are_saved_opened_and_shown(tmp_path: Path) -> None:
    findings = wb.Findings.made({"A": look(evidence(NODES))})
    opened = wb.open(findings.save(tmp_path / "found.ortbench"))
    assert opened.record == findings.record
    assert isinstance(opened.to_frame(), pd.DataFrame)
    assert [finding.record.id for finding in opened] == [finding.record.id for finding in findings]
    assert opened["einsum"].record.nodes == ("e",)
    with pytest.raises(wb.WorkbenchError, match="not at hand"):
        opened["skip-layer-norm-slow"].try_fix()
    assert "image/png" in opened._repr_mimebundle_()[0]


def test_savings_on_different_nodes_add_up() -> None:
    record = look(evidence(NODES))
    first, second = replace(record.findings[0], nodes=("s",)), replace(record.findings[1], nodes=("e",))
    fix = replace(first.fix, kind="config", config=Config(level="basic"))
    gains = [Gain("time", 0.0, 0.0, 0.0, share) for share in (0.3, 0.2)]
    both = (replace(first, fix=fix, gain=gains[0]), replace(second, fix=fix, gain=gains[1]))
    together = replace(record, findings=both)
    assert together.together == pytest.approx(2.0)
    assert "Together about 2.0× faster: savings on different nodes add up" in str(together)
    shared = (both[0], replace(both[1], nodes=("s", "e")))
    assert replace(record, findings=shared).together is None
    for cut in ((replace(both[0], node_count=41), both[1]), (both[0], replace(both[1], node_count=41))):
        assert replace(record, findings=cut).together is None, "the nodes left out may be shared"
    note = (both[0], replace(both[1], fix=replace(fix, config=None)))
    assert replace(record, findings=note).together is None
    assert "Together" not in str(replace(record, findings=both[:1]))


def test_a_forged_share_is_refused() -> None:
    record = look(evidence(NODES))
    forged = replace(record.findings[0], gain=replace(record.findings[0].gain, share=7.0))
    with pytest.raises(BundleError, match="share"):
        check_findings(replace(record, findings=(forged,)), "")


def test_nothing_found_is_said_with_how_many_looked() -> None:
    record = FindingsRecord("tiny", Config(), 0.001, (), ("a", "b"), ())
    assert str(record) == "tiny: nothing found that is worth your time: 2 rules looked"
    assert list(record.to_frame()["id"]) == []
    assert KINDS.of(record, "").name == "findings"


def test_rules_that_could_not_look_are_counted_with_what_is_missing() -> None:
    missing = (
        NotLooked("a", "no labels"),
        NotLooked("b", "no GPU, no labels"),
        NotLooked("c", "failed: KeyError: x"),
    )
    record = FindingsRecord("tiny", Config(), 0.001, (), tuple("d" * 41), missing)
    words = "41 rules looked, 3 could not (no labels, no GPU, 1 failed)"
    assert record.looked_text == words
    assert str(record) == f"tiny: nothing found that is worth your time: {words}"
