"""The source of functions of ours, with all that they need, as code of a script that imports none of ours."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_OURS = __name__.partition(".")[0] + "."


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """A module: its text in lines, and the statement that defines or imports each of its names."""

    lines: list[str]
    statements: dict[str, ast.stmt]  # in the order of the text

    @property
    def modules(self) -> set[str]:
        """Return the modules of ours that it imports from."""
        modules = map(_module_of_ours, self.statements.values())
        return {module for module in modules if module is not None}

    def text_of(self, statement: ast.stmt) -> str:
        """Return the code of a statement, with its decorators."""
        decorators = getattr(statement, "decorator_list", [])
        first = min(node.lineno for node in (statement, *decorators))
        text = "\n".join(self.lines[first - 1 : statement.end_lineno])
        return text.replace("noqa: BLE001 - ", "")


def embedded(functions: Iterable[str]) -> tuple[list[str], str]:
    """Return the imports and the code of functions, each named with its module, and of what they use."""
    needed = _needed(functions)
    above = {module: _read(module).modules & needed.keys() for module in needed}
    imports, blocks = dict[str, None](), list[tuple[bool, str]]()
    for module in TopologicalSorter(above).static_order():
        source, names = _read(module), needed[module]
        statements = [statement for name, statement in source.statements.items() if name in names]
        for statement in dict.fromkeys(statements):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                imports[_unparsed(statement, names)] = None
            else:
                is_constant = isinstance(statement, ast.Assign | ast.AnnAssign)
                blocks.append((is_constant, source.text_of(statement)))
    return [*imports], _joined(blocks)


def _needed(functions: Iterable[str]) -> dict[str, set[str]]:
    """Return the names that functions use, and those that these use, by the module that defines them."""
    waiting = [(module, name) for module, _, name in (function.rpartition(".") for function in functions)]
    needed: dict[str, set[str]] = {}
    while waiting:
        module, name = waiting.pop()
        statements = _read(module).statements
        other = _module_of_ours(statements[name])
        names = needed.setdefault(other or module, set())
        if other is not None:
            waiting.append((other, name))
        elif name not in names:
            names.add(name)
            read = {node.id for node in ast.walk(statements[name]) if isinstance(node, ast.Name)}
            waiting += [(module, used) for used in sorted(read) if used in statements]
    return needed


@cache
def _read(module: str) -> ModuleSource:
    text = _ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
    return ModuleSource(
        text.splitlines(),
        {name: statement for statement in ast.parse(text).body for name in _names(statement)},
    )


def _unparsed(statement: ast.Import | ast.ImportFrom, wanted: Collection[str]) -> str:
    """Return an import statement with the names that are wanted."""
    names = [alias for alias in statement.names if _bound(alias) in wanted]
    if isinstance(statement, ast.Import):
        return ast.unparse(ast.Import(names))
    return ast.unparse(ast.ImportFrom(statement.module, names, statement.level))


def _bound(alias: ast.alias) -> str:
    """Return the name that an import gives to what it imports."""
    return alias.asname or alias.name.partition(".")[0]


def _module_of_ours(statement: ast.stmt) -> str | None:
    """Return the module that a statement imports from, if it is one of ours."""
    module = statement.module if isinstance(statement, ast.ImportFrom) else None
    return module if module is not None and module.startswith(_OURS) else None


def _names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Assign(targets=[target]):
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        case ast.Import() | ast.ImportFrom():
            yield from map(_bound, statement.names)


def _joined(blocks: list[tuple[bool, str]]) -> str:
    """Return the code with two empty lines around each function and class, and none between constants."""
    code, after_constant = "", False
    for is_constant, text in blocks:
        code += ("\n" if is_constant and after_constant else "\n\n\n") + text
        after_constant = is_constant
    return code.strip()
