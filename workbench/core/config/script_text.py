"""The code of a script's steps as it grows: imports, blocks, and the files from one step to the next."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workbench.core.config.embedding import embedded
from workbench.core.config.script_inputs import draw_code

TIME = "import time"
PREPARING = "workbench.core.worker.preparing"
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

    def use(self, *functions: str) -> None:
        """Have the script define these functions, each named with its module, and what they call."""
        self._used += functions

    def convert(self, word: str, function: str, *values: str, **settings: Any) -> None:
        """Write a call of a function of the jobs. `values`: code of its last arguments."""
        source, target = self.next(word)
        arguments = [repr(source), repr(target), *(f"{name}={value!r}" for name, value in settings.items())]
        arguments += [f"examples={value}" for value in values]
        self.use(f"{PREPARING}.{function}")
        lines = [f"{function.rpartition('.')[2]}(", *(f"    {argument}," for argument in arguments), ")"]
        self.blocks.append("\n".join(lines))

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
