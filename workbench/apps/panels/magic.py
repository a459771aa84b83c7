"""`%%workbench`: run a cell, and show the workbench on the sessions that it makes or runs."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from workbench.apps.panels.app import Workbench
from workbench.core.caught.catching import catching
from workbench.core.caught.record import CaughtSession, caught_sessions
from workbench.core.errors import WorkbenchError

NONE = "The cell made and ran no onnxruntime session. Put the lines that make it, and one run, into the cell."


def load_ipython_extension(shell: Any) -> None:
    """Add `%%workbench` to a notebook: IPython calls it for `%load_ext workbench`."""
    shell.register_magic_function(partial(run_cell, shell), "cell", "workbench")


def run_cell(shell: Any, line: str, cell: str) -> Workbench | None:
    """Run the cell, and return the workbench on what it caught; several sessions have a list above it."""
    from IPython.core.error import UsageError
    from IPython.display import display

    if line.strip():
        raise UsageError("%%workbench takes no arguments: write the code below it.")
    with catching() as catcher:
        outcome = shell.run_cell(cell)
    sessions = caught_sessions(catcher)
    print(*(sessions or [NONE]), sep="\n")
    bench = Workbench() if sessions else None
    if bench is not None:
        if len(sessions) > 1:
            display(chooser(bench, sessions))  # type: ignore[no-untyped-call]
        show(bench, sessions[0])
    if not outcome.success:
        if bench is not None:
            display(bench)  # type: ignore[no-untyped-call]
        raise UsageError("The cell failed, so its later lines did not run.")
    return bench


def show(bench: Workbench, session: CaughtSession) -> None:
    """Set the model, the config and the inputs of a session; B is the copy that is then changed."""
    state = bench.state
    with state.hold_trait_notifications():
        state.model = state.source = state.model_error = None  # until the session's own is open
        state.dims, state.seed, state.data, state.calibration = (), 0, session.inputs or "", ""
        state.set_configs({"A": session.config, "B": session.config})
    if session.model is not None:
        with suppress(WorkbenchError):  # the panels show why it cannot be opened
            bench.load(session.model, wait=True)


def chooser(bench: Workbench, sessions: tuple[CaughtSession, ...]) -> Any:
    """Return a list of the sessions, which sets what the workbench shows."""
    from workbench.apps.panels import widgets as W  # ipywidgets loads slowly
    from workbench.apps.panels.handlers import on_change

    options = [(f"{number}. {session}", number - 1) for number, session in enumerate(sessions, 1)]
    chosen = W.Dropdown(options=options, value=0, description="session", layout=W.Layout(width="auto"))
    on_change(chosen, lambda number: show(bench, sessions[number]))
    return chosen
