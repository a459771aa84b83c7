"""Tests come in by the front door: none reads a private attribute, or a widget by its place in a box."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PRIVATE = re.compile(r"_[a-zA-Z]\w*")
HINTS = re.compile(rf"(?<!\w){PRIVATE.pattern}|children")  # a module without one has no back door
LOOKED_AT = {ast.Subscript, ast.Assign, ast.Attribute, ast.ImportFrom, ast.Call}
BY_TEXT = {"getattr", "setattr", "delattr", "hasattr"}  # as a function, or as a method of monkeypatch
PUBLIC_ELSEWHERE = {
    "_actions": "argparse names its commands nowhere else",
    "_dom_classes": "ipywidgets keeps the CSS classes of a widget here",
    "_view_module": "ipywidgets: the package whose JavaScript draws a widget",
    "_repr_html_": "IPython's protocol of what a cell shows",
    "_repr_mimebundle_": "IPython's protocol of what a cell shows",
    "_exit": "os documents it: end a forked process and clean up nothing",
    "_fields": "ast documents it, and named tuples do",
    "_replace": "a named tuple documents it",
}


def back_doors(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of everything private that a test reads, and each place in a box."""
    own: set[str] | None = None  # looked for where something private is read: few modules do
    for node in ast.walk(tree):
        if type(node) not in LOOKED_AT:
            continue
        match node:
            case ast.Subscript(ast.Attribute(_, "children"), place) if is_number(place):
                yield node.lineno, ast.unparse(node)
            case ast.Assign([ast.Tuple([_, _, *_])], ast.Attribute(_, "children")):
                yield node.lineno, ast.unparse(node)
            case ast.Attribute(owner, name) if is_private(name):
                own = names_of_its_own(tree) if own is None else own
                if not (isinstance(owner, ast.Name) and owner.id in ("self", "cls") and name in own):
                    yield node.lineno, name
            case ast.ImportFrom():
                yield from ((node.lineno, alias.name) for alias in node.names if is_private(alias.name))
            case ast.Call(ast.Name(function) | ast.Attribute(_, function)) if function in BY_TEXT:
                texts = [str(part.value) for part in node.args[:2] if isinstance(part, ast.Constant)]
                names = [text.rpartition(".")[2] for text in texts]
                yield from ((node.lineno, name) for name in names if is_private(name))


def is_private(name: str) -> bool:
    return PRIVATE.fullmatch(name) is not None and name not in PUBLIC_ELSEWHERE


def names_of_its_own(tree: ast.Module) -> set[str]:
    """Return the names that a module defines itself, as fakes do: functions and attributes."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                names.add(name)
            case ast.Attribute(ast.Name("self" | "cls"), name, ast.Store()):
                names.add(name)
    return names


def is_number(place: ast.expr) -> bool:
    """Return whether an index, or an end of a slice, is a number that is written there."""
    return any(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in ast.walk(place))


def test_tests_come_in_by_the_front_door() -> None:
    """Give the thing a public name, or find the widget by its kind or its label (tests/apps/widgets.py)."""
    wrong = [
        f"{path.relative_to(TESTS)}:{line}: {name}"
        for path in sorted(TESTS.rglob("*.py"))
        if HINTS.search(source := path.read_text(encoding="utf-8"))
        for line, name in back_doors(ast.parse(source))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("made._private", "_private"),
        ("self._inherited", "_inherited"),
        ("super()._load()", "_load"),
        ("from workbench.core.models.wire import _varint", "_varint"),
        ("monkeypatch.setattr(Worker, '_wait', watched)", "_wait"),
        ("monkeypatch.setattr('workbench.features.variants.versions._measured', made)", "_measured"),
        ("getattr(made, '_private')", "_private"),
        ("box.children[0].value", "box.children[0]"),
        ("box.children[-1]", "box.children[-1]"),
        ("box.children[1:]", "box.children[1:]"),
        ("*_, last = box.children", "*_, last = box.children"),
    ],
)
def test_a_back_door_is_found(code: str, name: str) -> None:
    assert HINTS.search(code)
    assert [read for _, read in back_doors(ast.parse(code))] == [name]


@pytest.mark.parametrize(
    "code",
    [
        "class Fake:\n    def _load(self): return self._load()",
        "class Fake:\n    def __init__(self): self._clock = 1\n    def now(self): return self._clock",
        "made.__dict__, made._repr_html_(), made._replace(a=1)",
        "(only,) = box.children; children[0]; box.children[number]",
        "from __future__ import annotations",
    ],
)
def test_what_a_test_defines_and_what_others_document_is_no_back_door(code: str) -> None:
    assert [*back_doors(ast.parse(code))] == []
