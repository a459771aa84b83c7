"""The import graph of the package has no circle, and names say what they hold."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import workbench
from workbench.features import FEATURES

ROOT = Path(workbench.__file__).parents[1]
VAGUE_NAMES = frozenset({"one", "told", "found", "said", "each", "seen"})
MOST_VAGUE_NAMES = 150
LEAVES = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.Constant)
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder in ("workbench", "sample_models")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


@dataclass(frozen=True, slots=True)
class Module:
    """A module of ours: the ones of ours that it imports, and how many of its names are vague."""

    imports: frozenset[str]
    vague_names: int


@cache
def modules() -> dict[str, Module]:
    """Return every module of ours by its name; a tree is walked once."""
    return {name: _module(name, path) for name, path in SOURCES.items()}


def _module(name: str, path: Path) -> Module:
    """Imports also count inside functions and for type checkers, names as a variable or an argument."""
    imports: set[str] = set()
    vague_names = 0
    for node in _nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            vague_names += node.id in VAGUE_NAMES
        elif isinstance(node, ast.arg):
            vague_names += node.arg in VAGUE_NAMES
        elif isinstance(node, ast.Import):
            imports.update(_ours(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} has a relative import"
            imports.update(_ours(f"{node.module}.{alias.name}") for alias in node.names)
    return Module(frozenset(imports - {"", name}), vague_names)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree that hold others or a name; `ast.walk` visits twice as many."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                waiting += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, LEAVES):
                waiting.append(value)


def _ours(target: str) -> str:
    """Return the module of ours that holds the target, or an empty text."""
    while target and target not in SOURCES:  # a name in a module, or a module of somebody else
        target = target.rpartition(".")[0]
    return target


def test_the_import_graph_has_no_circle() -> None:
    graph = {name: module.imports for name, module in modules().items()}
    assert sum(map(len, graph.values())) > 1000, "imports are counted"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " imports ".join(reversed(error.args[1]))
        raise AssertionError(f"{circle}") from None


def test_names_say_what_they_hold() -> None:
    """An index or a comprehension needs no vague name either."""
    counts = Counter({name: module.vague_names for name, module in modules().items()})
    assert counts.total() < MOST_VAGUE_NAMES, f"most in {counts.most_common(10)}"


def test_the_panels_ask_declarations_instead_of_naming_results() -> None:
    """A kind of result is known by its role, its questions and its views; the verdict is always there."""
    named = {
        f"{name}: {node.value!r}"
        for name, path in SOURCES.items()
        if name.startswith(("workbench.apps.panels", "workbench.apps.server"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and str(node.value).partition("/")[0] in FEATURES
    }
    assert named == {
        "workbench.apps.panels.actions: 'comparison'",  # what a kind needs
        "workbench.apps.panels.code: 'comparison'",
        "workbench.apps.panels.tabs.history: 'comparison'",
        "workbench.apps.panels.knobs.rows: 'memory'",  # a group of knobs
        "workbench.apps.server.links: 'profile'",  # the title of a page
    }


def test_apps_alone_import_the_root_of_the_package() -> None:
    """Its names are for notebooks and front ends; other modules import what they need from where it is."""
    importers = [
        name
        for name, module in modules().items()
        if name.startswith("workbench.")
        and not name.startswith("workbench.apps.")
        and "workbench" in module.imports
    ]
    assert importers == []
