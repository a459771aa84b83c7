"""What did not help here is remembered: shown, and not tried again."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.advisor.evidence import evidence
from workbench.advisor.look import look
from workbench.advisor.tried import FILE, remember, with_tried
from workbench.api.advising import _next
from workbench.home import data_folder

pytestmark = pytest.mark.usefixtures("own_home")

NODES = [("m", "MatMul", ("x", "w"), 60), ("s", "SkipLayerNormalization", ("m",), 40)]
RECORD = look(evidence(NODES))
FINDING = next(finding for finding in RECORD.findings if finding.id == "skip-layer-norm-slow")


def test_a_fix_that_did_not_help_says_so_and_is_not_offered_again() -> None:
    assert with_tried(RECORD, "sha", "cpu") == (RECORD, frozenset())
    remember("sha", "cpu", RECORD.config, FINDING, "B is 0.98 times as fast.")
    marked, tried = with_tried(RECORD, "sha", "cpu")
    assert tried == {FINDING.id}
    (finding,) = [finding for finding in marked.findings if finding.id == FINDING.id]
    assert finding.caution.startswith("tried here and not kept: B is 0.98 times as fast.; on a GPU")
    skipped: dict[str, str] = {}
    assert _next(wb.Findings.made({"A": marked}), set(), tried, skipped, None) is None
    assert "tried here and not kept" in skipped[FINDING.id]
    assert _next(wb.Findings.made({"A": RECORD}), set(), frozenset(), {}, None) is not None


def test_another_model_processor_or_config_is_another_matter() -> None:
    remember("sha", "cpu", RECORD.config, FINDING, "slower")
    one_thread = replace(RECORD, config=wb.Config(intra_op_threads=1))
    for record, sha256, cpu in (
        (RECORD, "other", "cpu"),
        (RECORD, "sha", "other"),
        (one_thread, "sha", "cpu"),
    ):
        assert with_tried(record, sha256, cpu)[1] == frozenset()


def test_a_damaged_file_forgets_and_is_written_anew() -> None:
    (data_folder() / FILE).write_text('["no", "table"]')
    assert with_tried(RECORD, "sha", "cpu")[1] == frozenset()
    remember("sha", "cpu", RECORD.config, FINDING, "slower")
    assert with_tried(RECORD, "sha", "cpu")[1] == {FINDING.id}
