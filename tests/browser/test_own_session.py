"""`%%workbench` in a real JupyterLab: the panels below the user's cell, on exactly its sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import button, compared, knob
from tests.core.models import tiny

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

ONE = """%%workbench
import numpy as np, onnxruntime as ort
options = ort.SessionOptions()
options.intra_op_num_threads = 1
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
session = ort.InferenceSession({path!r}, options)
for value in (3, 4):
    session.run(None, {{"x": np.full((2, 4), value, np.float32)}})"""
ANOTHER = """
other = ort.InferenceSession({path!r})"""
SEEN = """bench = _
bench.state.budget_s = 1.0
feeds = bench.state.request().subject.inputs().feeds
print(bench.state.model.path, bench.a == bench.b, [feed["x"].tolist() for feed in feeds])"""


@pytest.fixture
def model(lab: Lab) -> Path:
    return tiny.save(tiny.mlp(), lab.folder, "mine.onnx")


def test_the_panels_are_on_the_session_of_the_cell_and_compare_it(
    show: Show, pages: Pages, model: Path
) -> None:
    book = show("%load_ext workbench", ONE.format(path=str(model)), SEEN)
    page, output = book.page, book.output(1)
    expect(output).to_contain_text("mine.onnx: 2 runs, 2 feeds kept")
    expect(output.locator(".wbp-headline")).to_contain_text("mine")
    for label in "AB":
        expect(knob(page, "intra-op threads", label).locator("option:checked")).to_have_text("1")
        expect(knob(page, "level", label).locator("option:checked")).to_have_text("basic")
    expect(output.get_by_label("session")).to_have_count(0)
    rows = [[[value] * 4] * 2 for value in (3.0, 4.0)]
    expect(book.output(2)).to_contain_text(f"{model} True {rows}")
    knob(page, "level", "B").select_option("all")
    button(page, "Compare").click()
    compared(page)
    pages.picture(page, "own-session")
    assert faults(page, ".wbp") == []


def test_several_sessions_are_chosen_from_a_list(show: Show, pages: Pages, lab: Lab, model: Path) -> None:
    other = tiny.save(tiny.conv_net(), lab.folder, "pictures.onnx")
    source = ONE.format(path=str(model)) + ANOTHER.format(path=str(other))
    book = show("%load_ext workbench", source)
    page, output = book.page, book.output(1)
    listed = output.get_by_label("session")
    expect(listed.locator("option:checked")).to_contain_text("1. mine.onnx: 2 runs, 2 feeds kept")
    expect(output.locator(".wbp-headline")).to_contain_text("mine")
    pages.picture(page, "own-sessions")
    listed.select_option(index=1)
    expect(output.locator(".wbp-headline")).to_contain_text("pictures")
    expect(knob(page, "level", "A").locator("option:checked")).to_have_text("all")
    expect(output).to_contain_text("pictures.onnx: 0 runs, 0 feeds kept")
    listed.select_option(index=0)
    expect(output.locator(".wbp-headline")).to_contain_text("mine")
    expect(knob(page, "intra-op threads", "A").locator("option:checked")).to_have_text("1")
