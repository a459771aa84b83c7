"""The import graph of the package has no circle, and names say what they hold."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import workbench

ROOT = Path(workbench.__file__).parents[1]
VAGUE_NAMES = frozenset({"one", "told", "found", "said", "each", "seen"})
MOST_VAGUE_NAMES = 150
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder in ("workbench", "sample_models")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


@cache
def trees() -> dict[str, ast.Module]:
    """Return every module of ours as a syntax tree."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}


@cache
def imported_modules(name: str) -> frozenset[str]:
    """Return the modules of ours that a module imports, also inside functions and for type checkers."""
    return frozenset(_imported_modules(name))


def _imported_modules(name: str) -> Iterator[str]:
    for node in ast.walk(trees()[name]):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} has a relative import"
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:
            module = target
            while module and module not in SOURCES:  # a name in a module, or a module of somebody else
                module = module.rpartition(".")[0]
            if module and module != name:
                yield module


def test_the_import_graph_has_no_circle() -> None:
    graph = {name: imported_modules(name) for name in SOURCES}
    assert sum(map(len, graph.values())) > 1000, "imports are counted"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " imports ".join(reversed(error.args[1]))
        raise AssertionError(f"{circle}") from None


def test_names_say_what_they_hold() -> None:
    """Counted: uses as a variable or an argument. An index or a comprehension needs no vague name either."""
    counts: Counter[str] = Counter()
    for module, tree in trees().items():
        for node in ast.walk(tree):
            name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
            counts[module] += name in VAGUE_NAMES
    assert counts.total() < MOST_VAGUE_NAMES, f"most in {counts.most_common(10)}"


def test_nothing_below_imports_the_root_of_the_package() -> None:
    """Its names are for notebooks; modules import what they need from where it is."""
    importers = [
        name for name in SOURCES if name.startswith("workbench.") and "workbench" in imported_modules(name)
    ]
    assert importers == []
