"""Changes of widgets: those that a person makes are handled, those that the panels make are not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from workbench.panels import widgets as W
from workbench.panels.guard import shown_in

_thread = threading.local()  # a person may change a widget while another thread updates the panels


@contextmanager
def own_changes() -> Iterator[None]:
    """Mark the changes that this thread makes inside as the panels' own: `on_change` ignores them."""
    depth = getattr(_thread, "depth", 0)
    _thread.depth = depth + 1
    try:
        yield
    finally:
        _thread.depth = depth


def on_change(
    widget: Any, handler: Callable[[Any], None], trait: str = "value", *, status: W.HTML | None = None
) -> None:
    """Call `handler` with the new value when a person changes it; show its errors in `status`."""

    def changed(change: Any) -> None:
        if not getattr(_thread, "depth", 0):
            with nullcontext() if status is None else shown_in(status):
                handler(change["new"])

    widget.observe(changed, names=trait)
