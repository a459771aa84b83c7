"""The code of a script's steps as it grows: imports, blocks, and the files from one step to the next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

APART = "import contextlib\nimport tempfile"
_LARGE = """LARGE = os.path.getsize(MODEL) > 1 << 30 or any(  # weights go beside the next file, too
    tensor.data_location == onnx.TensorProto.EXTERNAL
    for tensor in onnx.load(MODEL, load_external_data=False).graph.initializer
)"""
SAVE = """onnx.save(
    %(model)s, %(target)r, save_as_external_data=LARGE, all_tensors_to_one_file=True,
    location="model.onnx.data" if LARGE else None,
)"""


class Steps:
    """The script so far, a block of code for each step; `file` is the file that the next step reads."""

    def __init__(self, model: str | os.PathLike[str], folder: str | os.PathLike[str] | None) -> None:
        self.model = os.fspath(model)
        self.folder = Path(folder if folder is not None else f"{Path(model).stem}-prepared")
        self.file = self.model
        self.imports: list[str] = ["import onnx"]
        self.blocks: list[str] = [f"MODEL = {self.model!r}", _LARGE]

    def next(self, word: str, suffix: str = ".onnx") -> tuple[str, str]:
        """Return the file that this step reads and the file that it writes, in the output folder."""
        source = self.file
        self.file = str(self.folder / word / f"model{suffix}")
        self.blocks.append(f"os.makedirs({str(Path(self.file).parent)!r}, exist_ok=True)")
        return source, self.file

    def add(self, imported: str, block: str) -> None:
        self.imports += imported.splitlines()
        self.blocks.append(block)


def lines(script: Steps) -> Iterator[str]:
    """Yield the script so far, the imports first and without repetition."""
    standard = {*APART.splitlines()} & {*script.imports}
    others = {*script.imports, "import onnxruntime as ort"} - standard
    yield "\n".join([*sorted(standard), *([""] if standard else []), *sorted(others, key=_import_order)])
    yield from script.blocks


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line
