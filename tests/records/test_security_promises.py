"""Every promise of docs/security.md names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text("utf-8")
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", TEXT)))


@pytest.mark.parametrize(("file", "name"), TESTS, ids=lambda part: part or "whole")
def test_the_test_of_a_promise_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert not name or name in functions


def test_every_promise_has_a_test() -> None:
    tables = TEXT.split("| promise | test |\n")[1:]
    rows = [row for table in tables for row in table.split("\n\n")[0].splitlines()[1:]]
    assert rows
    assert [row for row in rows if "`tests/" not in row] == []
