"""The fields that stand in for the knob table where JupyterLab lacks anywidget."""

from __future__ import annotations

from typing import Any

import ipywidgets as W

import workbench as wb
from tests.apps.widgets import descendants, htmls
from workbench.apps.panels.knobs.rows import knob_row
from workbench.apps.panels.without_anywidget import FIELDS, notice


def fields(widget: W.Widget) -> dict[str, Any]:
    return {child.tooltip: child for child in descendants(widget) if isinstance(child, W.Dropdown)}


def test_each_field_sets_its_config_and_follows_it() -> None:
    bench = wb.Workbench()
    shown = fields(notice(bench.state))
    assert len(shown) == 2 * len(FIELDS)
    shown["B: precision"].value = "static int8"
    shown["B: intra-op threads"].value = "1"
    assert bench.b == wb.Config(precision=wb.StaticInt8(), intra_op_threads=1)
    shown["A: level"].value = "basic"
    assert bench.a == wb.Config(level="basic")
    bench.b = wb.Config(intra_op_threads=1, level="all")
    assert shown["B: intra-op threads"].value == "1"
    assert shown["B: precision"].value == "as in the file"


def test_a_value_that_no_field_has_is_kept() -> None:
    bench = wb.Workbench()
    shown = fields(notice(bench.state))
    bench.b = wb.Config(intra_op_threads=200)
    assert shown["B: intra-op threads"].value is None
    assert bench.b.intra_op_threads == 200


def test_a_value_that_the_config_refuses_is_not_left_on_the_screen() -> None:
    bench = wb.Workbench()
    made = notice(bench.state)
    bench.b = wb.Config(engine=wb.PyTorch())
    shown = fields(made)
    shown["B: precision"].value = "dynamic int8"
    assert bench.b == wb.Config(engine=wb.PyTorch())
    assert shown["B: precision"].value == "as in the file"
    assert "cannot be set beside engine=PyTorch()" in "".join(htmls(made))


def test_the_panels_hold_the_notice_in_plain_widgets() -> None:
    (shown,) = [child for child in wb.Workbench().panels.root.children if "wbp-lacks" in child._dom_classes]
    assert "pip install anywidget" in next(htmls(shown))
    assert {widget._view_module for widget in descendants(shown)} == {"@jupyter-widgets/controls"}


def test_a_provider_is_set_and_one_with_options_is_kept() -> None:
    bench = wb.Workbench()
    shown = fields(notice(bench.state))
    field = shown[f"B: {knob_row('providers').label}"]
    assert field.value == "default: CPU"
    field.value = "cuda"
    assert bench.b == wb.Config(providers=("cuda",))
    given = wb.Config(providers=(wb.Provider("cuda", device_id=1), "cpu"))
    bench.b = given
    assert field.value is None
    assert bench.b == given
