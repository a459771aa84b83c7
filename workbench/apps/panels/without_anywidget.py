"""What the panels say in a JupyterLab that lacks anywidget, as one in another environment may.

The bridge marks the panels as alive as soon as its script runs in the page. Where no mark appears within a
few seconds, the page itself shows this notice, in plain widgets, and hides the boxes of scripts that failed.
"""

from __future__ import annotations

from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import follow, on_change, own_changes
from workbench.apps.panels.state import BenchState
from workbench.core.config import DynamicInt8, Float16, StaticInt8
from workbench.core.config.plan import LEVELS

ALIVE = "wbp-alive"  # set by bridge.js
SECONDS = 4
_STYLE = f"""<style>
.wbp-lacks {{ display: block; visibility: hidden; max-height: 0; overflow: hidden;
  animation: wbp-lacks 0s {SECONDS}s forwards; }}
@keyframes wbp-lacks {{ to {{ visibility: visible; max-height: none; overflow: visible; }} }}
.wbp:has(.{ALIVE}) .wbp-lacks {{ display: none; }}
.wbp:not(:has(.{ALIVE})) .jupyter-widgets-error-widget {{ display: none; }}
</style>"""
TEXT = """<div role="alert">
<p><b>This JupyterLab lacks anywidget.</b> Where it runs: <code>pip install anywidget</code>, then reload this
page. The environment of this kernel has it already; JupyterLab needs it too.</p>
<p>Without it these work: the model, the fields below, <code>bench.b = wb.Config(…)</code> in a cell, Compare
and all other runs, every answer, every figure and table. These do not: the table of all settings, the live
graph and flame (<code>bench.result.graph()</code> in a cell shows its picture), and the buttons that copy,
download or add a cell (<code>bench.result.save("result.ortbench")</code> and
<code>bench.result.export_html("page.html")</code> write files).</p>
<p>Netron and speedscope need the workbench beside JupyterLab as well: <code>pip install ort-workbench</code>
there, then restart JupyterLab.</p></div>"""

FIELDS: dict[str, dict[str, Any]] = {  # of a config: label and value of each choice
    "level": {"default level": None, **{name: name for name in LEVELS}},
    "precision": {
        "float32": None, "float16": Float16(), "dynamic int8": DynamicInt8(), "static int8": StaticInt8(),
    },
    "intra_op_threads": {
        "default threads": None, "1 thread": 1, "2 threads": 2, "4 threads": 4, "8 threads": 8,
    },
}  # fmt: skip


def notice(state: BenchState) -> Any:
    """Return the notice with plain fields of A and B; the page keeps it hidden where the panels are alive."""
    rows = [
        W.HBox([W.HTML(trait.upper()), *(_field(state, trait, name) for name in FIELDS)]) for trait in "ab"
    ]
    return W.VBox([W.HTML(_STYLE + TEXT), *rows], classes="wbp-lacks")


def _field(state: BenchState, trait: str, name: str) -> Any:
    """Return the dropdown of one field of a config; it is empty where the config has another value."""
    choices = FIELDS[name]
    field = W.Dropdown(options=list(choices), tooltip=f"{trait.upper()}: {name.replace('_', ' ')}")

    def choose(label: str | None) -> None:
        if label is not None:
            state.change(**{trait: getattr(state, trait).replace(**{name: choices[label]})})

    def show() -> None:
        current = getattr(getattr(state, trait), name)
        with own_changes():
            field.value = next((label for label, value in choices.items() if value == current), None)

    follow(state, show, trait)
    on_change(field, choose)
    return field
