"""The code of a script's steps as it grows: imports, blocks, and the files from one step to the next."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workbench.core.config.script_inputs import draw_code

TIME = "import time"
WORKER = Path(__file__).parents[1] / "worker"
CONVERSIONS = ("preparing/conversions.py", "preparing/float16.py")  # each names only those before it
TIMING = """

if __name__ == "__main__":  # a first look, on random inputs
    try:
        feeds = draw(session.get_inputs(), 0)
        for _ in range(5):
            run(feeds)
    except Exception as error:
        raise SystemExit(f"not timed: these inputs do not fit, change draw() or give your own: {error}")
    latencies_s = []
    for _ in range(21):
        start = time.perf_counter()
        run(feeds)
        latencies_s.append(time.perf_counter() - start)
    shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in feeds.items())
    print(f"one call: {1e3 * sorted(latencies_s)[10]:.3f} ms, the median of 21, on {shapes}")
"""


class ScriptSteps:
    """The script so far, a block of code for each step; `file` is the file that the next step reads."""

    def __init__(
        self,
        model: str | os.PathLike[str],
        folder: str | os.PathLike[str] | None,
        draw: str | None = None,
    ) -> None:
        self.model = os.fspath(model)
        self.folder = Path(folder if folder is not None else f"{Path(model).stem}-prepared")
        self.file = self.model
        self.imports: list[str] = ["import onnx"]
        self.blocks: list[str] = [f"MODEL = {self.model!r}"]
        self._used: list[str] = []
        self._draw = draw or draw_code(None)

    def next(self, word: str, suffix: str = ".onnx") -> tuple[str, str]:
        """Return the file that this step reads and the file that it writes, in the output folder."""
        source = self.file
        self.file = str(self.folder / word / f"model{suffix}")
        self.blocks.append(f"os.makedirs({str(Path(self.file).parent)!r}, exist_ok=True)")
        return source, self.file

    def add_draw(self) -> None:
        """Define `draw`, once."""
        if self._draw not in self.blocks:
            self.add("import numpy as np", self._draw)

    def add(self, imported: str, block: str) -> None:
        self.imports += imported.splitlines()
        self.blocks.append(block)

    def use(self, *names: str) -> None:
        """Have the script define these functions of the jobs, and what they call."""
        self._used += names

    def convert(self, word: str, function: str, *values: str, **settings: Any) -> None:
        """Write a call of a function of the jobs. `values`: code of its last arguments."""
        source, target = self.next(word)
        arguments = [repr(source), repr(target), *(f"{name}={value!r}" for name, value in settings.items())]
        arguments += [f"examples={value}" for value in values]
        self.use(function)
        self.blocks.append("\n".join([f"{function}(", *(f"    {argument}," for argument in arguments), ")"]))

    def lines(self) -> Iterator[str]:
        """Yield the script so far, the imports first and without repetition."""
        imported, code = embedded(self._used)
        yield in_order([*self.imports, *imported, "import onnxruntime as ort"])
        yield from (*([f"\n{code}\n"] if code else []), *self.blocks)


def in_order(imports: Iterable[str]) -> str:
    """Return import statements as a script begins with them: the standard library first, each once."""
    ordered = sorted({*imports}, key=lambda line: (line.startswith("from"), line))
    standard = [line for line in ordered if line.split()[1].split(".")[0] in sys.stdlib_module_names]
    others = [line for line in ordered if line not in standard]
    return "\n".join([*standard, *([""] if standard else []), *others])


def embedded(names: Iterable[str], files: Iterable[str] = CONVERSIONS) -> tuple[list[str], str]:
    """Return the imports and the code of some functions of the worker, and of what they use."""
    text = "\n".join((WORKER / name).read_text("utf-8") for name in files)
    body = ast.parse(text).body
    defined = {name: node for node in body for name in _names(node)}
    waiting, needed = [*names], set[str]()
    while waiting:
        needed.add(name := waiting.pop())
        read = {node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name)}
        waiting += [other for other in read if other in defined and other not in needed]
    nodes = [node for node in body if not needed.isdisjoint(_names(node))]
    imported = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    for statement in imported:
        statement.names = [alias for alias in statement.names if _bound(alias) in needed]
    lines, code = text.replace("noqa: BLE001 - ", "").splitlines(), ""
    after_function = False
    for node in (node for node in nodes if node not in imported):
        is_function = isinstance(node, ast.FunctionDef | ast.ClassDef)
        code += "\n\n\n" if is_function or after_function else "\n"
        code += "\n".join(lines[node.lineno - 1 : node.end_lineno])
        after_function = is_function
    return [ast.unparse(node) for node in imported], code.strip()


def _names(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign(targets=[ast.Name(name)]):
            return [name]
        case ast.ImportFrom(module=str(module)) if module.startswith("workbench."):
            return []  # of another module of conversions, which defines it
        case ast.Import() | ast.ImportFrom():
            return [_bound(alias) for alias in node.names]
    return []


def _bound(alias: ast.alias) -> str:
    """Return the name that an import gives to what it imports."""
    return alias.asname or alias.name.partition(".")[0]
