"""Reports to others stand alone: a script that makes its model, and a page with what it printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import imported_packages

FOLDER = Path(__file__).parents[1] / "docs" / "upstream"
SCRIPTS = sorted(FOLDER.glob("*.py"))
ALLOWED = {"numpy", "onnx", "onnxruntime"}


def printed(script: Path) -> list[str]:
    page = script.with_suffix(".md").read_text("utf-8")
    return re.findall(r"```text\n(.*?)```", page, re.DOTALL)[0].splitlines()


def test_there_are_four_each_with_its_page() -> None:
    assert len(SCRIPTS) == 4
    assert [path.stem for path in sorted(FOLDER.glob("*.md"))] == [path.stem for path in SCRIPTS]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_needs_no_workbench_and_its_page_says_what_ran(script: Path) -> None:
    imported = imported_packages(script)
    assert imported - set(sys.stdlib_module_names) <= ALLOWED
    page = script.with_suffix(".md").read_text("utf-8")
    assert f"`python {script.name}`" in page
    assert all(heading in page for heading in ("## To reproduce", "## Expected", "## Until then"))
    assert re.match(r"onnxruntime \d+\.\d+\.\d+, .*Python 3\.", printed(script)[0])


@pytest.mark.release
@pytest.mark.real
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_still_shows_what_its_page_says(script: Path, tmp_path: Path) -> None:
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, cwd=tmp_path, env=alone
    )
    assert done.returncode == 0, done.stderr
    seen, said = done.stdout.splitlines()[1:], printed(script)[1:]
    if script.stem == "skip_layer_norm":
        assert seen[0] == said[0]
        assert len(seen) == len(said)
        assert min(float(line.split()[-1]) for line in seen[1:]) > 1.5, (
            "the kernel became faster: close the report"
        )
    else:
        assert seen == said
