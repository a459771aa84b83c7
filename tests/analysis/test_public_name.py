"""`wb.explain` is a function, although a folder of that name is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "first", ["import workbench.analysis.observe", "pass", "from workbench.analysis import levels"]
)
def test_the_function_is_found_whatever_was_imported_before(first: str) -> None:
    code = f"{first}\nimport workbench as wb\nassert wb.explain.__module__ == 'workbench.api.explaining'"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
