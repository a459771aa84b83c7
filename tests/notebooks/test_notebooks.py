"""Every shipped notebook runs from top to bottom, in a kernel of its own, and shows what it promises."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import workbench
from workbench.cli.lab import surroundings
from workbench.cli.notebooks import shipped_folder

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.mark.parametrize("path", sorted(shipped_folder().rglob("*.ipynb")), ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in surroundings(Path(workbench.__file__).parents[1], os.environ).items():
        monkeypatch.setenv(name, value)
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(
        book, timeout=None, store_widget_state=False, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = [output for cell in book.cells for output in cell.get("outputs", []) if "data" in output]
    figures = [output.data for output in shown if "application/vnd.plotly.v1+json" in output.data]
    assert figures, "a result without a figure"
    for data in figures:
        assert data["text/plain"].strip(), "a figure without its sentence of numbers"
        assert "text/html" not in data, "HTML beside a figure hides its picture where notebooks are shared"
