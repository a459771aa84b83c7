"""The page of findings is made from the rules; the page of common issues names some and links it."""

from __future__ import annotations

import re

from docs.findings import PAGE, page
from workbench.features.findings.rule import rules

COMMON = PAGE.with_name("common-issues.md")


def test_the_committed_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page()


def test_a_reader_of_the_common_issues_reaches_every_rule() -> None:
    assert f"]({PAGE.name})" in COMMON.read_text("utf-8")
    listed = PAGE.read_text("utf-8")
    assert [rule.id for rule in rules() if f"\n| **{rule.id}** {rule.meaning} |" not in listed] == []


def test_the_common_issues_name_findings_that_exist() -> None:
    rows = [row.split(" | ") for row in COMMON.read_text("utf-8").splitlines() if re.match(r"\| \d", row)]
    named = {name for row in rows for name in re.findall(r"`([a-z0-9-]+)`", row[3])}
    assert {"shape-arithmetic", "engine-without-profiles"} <= named <= {rule.id for rule in rules()}
