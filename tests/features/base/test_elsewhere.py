"""A bundle with all its parts opens, is drawn and exported where ONNX Runtime is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tests
import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import ordinary

REPOSITORY = Path(tests.__file__).parent.parent
FOREIGN = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"onnxruntime", "onnx_ir"}:
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, Refuse())
import workbench as wb
result = wb.open(sys.argv[1])
for view in (result.graph(), result.flame()):
    assert view.still().to_png().startswith(b"\\x89PNG")
for one in (result, result.fusions(), result.memory(), result.roofline(), result.cold_start(),
            result.explanation("B"), result.profile("A")):
    data, _ = one._repr_mimebundle_()
    assert data["image/png"] and data["text/plain"]
result.export_html(sys.argv[2])
print(result.verdict.kind, len(result.parts))
"""


@pytest.mark.slow
def test_everything_of_a_reopened_result_works_without_onnxruntime(tmp_path: Path) -> None:
    path = wb.Comparison(ordinary(), b"graph", parts=examples.parts()).save(tmp_path / "a.ortbench")
    page = tmp_path / "page.html"
    command = [sys.executable, "-c", FOREIGN, str(path), str(page)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "faster 10\n"
    assert page.stat().st_size > 1_000_000
