"""What the panels say in a JupyterLab that lacks anywidget, as one in another environment may.

The bridge marks the panels as alive as soon as its script runs in the page. Where no mark appears within a
few seconds, frame.css shows this notice, in plain widgets, and hides the boxes of scripts that failed.
"""

from __future__ import annotations

from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import follow, on_change, own_changes
from workbench.apps.panels.knobs.row import SettingRow
from workbench.apps.panels.knobs.rows import knob_row
from workbench.apps.panels.state import BenchState

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

FIELDS = tuple(map(knob_row, ("level", "precision", "providers", "intra_op_threads")))


def notice(state: BenchState) -> Any:
    """Return the notice with plain fields of A and B; the page keeps it hidden where the panels are alive."""
    status = W.HTML()
    rows = [W.HBox([W.HTML(label), *(_field(state, label, row, status) for row in FIELDS)]) for label in "AB"]
    return W.VBox([W.HTML(TEXT), *rows, W.HBox([status])], classes="wbp-lacks")


def _field(state: BenchState, label: str, row: SettingRow, status: W.HTML) -> Any:
    """Return the dropdown of one field of a config; it is empty where the config has another value."""
    field = W.Dropdown(options=list(row.settings), tooltip=f"{label}: {row.label}")

    def choose(words: str | None) -> None:
        if words is not None:
            try:
                state.set_config(label, row.changed(state.configs[label], words))
            finally:
                show()  # a value that was refused is not left on the screen

    def show() -> None:
        words = row.shown(state.configs[label])
        with own_changes():
            field.value = words if words in row.settings else None

    follow(state, show, "configs")
    on_change(field, choose, status=status)
    return field
