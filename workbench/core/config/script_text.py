"""The code of a script's steps as it grows: imports, blocks, and the files from one step to the next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from workbench.core.config.script_inputs import draw_code

APART = "import contextlib\nimport tempfile"
TIME = "import time"
_LARGE = """LARGE = os.path.getsize(MODEL) > 1 << 30 or any(  # weights go beside the next file, too
    tensor.data_location == onnx.TensorProto.EXTERNAL
    for tensor in onnx.load(MODEL, load_external_data=False).graph.initializer
)"""
SAVE = """onnx.save(
    %(model)s, %(target)r, save_as_external_data=LARGE, all_tensors_to_one_file=True,
    location="model.onnx.data" if LARGE else None,
)"""

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


class Steps:
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
        self.blocks: list[str] = [f"MODEL = {self.model!r}", _LARGE]
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


def lines(script: Steps) -> Iterator[str]:
    """Yield the script so far, the imports first and without repetition."""
    standard = {*APART.splitlines(), TIME} & {*script.imports}
    others = {*script.imports, "import onnxruntime as ort"} - standard
    yield "\n".join([*sorted(standard), *([""] if standard else []), *sorted(others, key=_import_order)])
    yield from script.blocks


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line
