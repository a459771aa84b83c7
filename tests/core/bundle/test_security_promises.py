"""Every promise of docs/security.md names tests that exist, one of which the README's command runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "security.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
TESTS = sorted(set(NAMED.findall(TEXT)))
LEFT_OUT = ("slow", "browser", "torch")  # by the README's command, or where a browser or PyTorch is missing


@pytest.mark.parametrize(("file", "name"), TESTS, ids=lambda part: part or "whole")
def test_the_test_of_a_promise_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert not name or name in functions


def is_run_by_default(file: str, name: str) -> bool:
    """Return whether the README's command runs this test, or one of a whole file, on any machine."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    of_file = [
        ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    tests = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and (node.name == name if name else node.name[:5] == "test_")
    ]
    marks = [" ".join([*of_file, *map(ast.unparse, test.decorator_list)]) for test in tests]
    return any(not re.search(rf"\bmark\.({'|'.join(LEFT_OUT)})\b", text) for text in marks)


def test_the_command_of_the_readme_leaves_out_what_is_slow() -> None:
    assert "python -m pytest`" in README or "python -m pytest\n" in README
    assert "-m 'not slow'\"" in (ROOT / "pyproject.toml").read_text("utf-8")


def test_every_promise_has_a_test() -> None:
    tables = TEXT.split("| promise | test |\n")[1:]
    rows = [row for table in tables for row in table.split("\n\n")[0].splitlines()[1:]]
    assert rows
    assert [row for row in rows if not any(is_run_by_default(*test) for test in NAMED.findall(row))] == []
