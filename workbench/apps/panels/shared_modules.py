"""Large modules that several threads use: imported by one thread at a time, and not before they are needed.

Two threads that import pandas at once may be given a half-made module. A fresh kernel shows the panels before
any of these is imported, which would take half of the time until then; opening a model begins it.
"""

from __future__ import annotations

import threading
from importlib import import_module

SHARED_MODULES = ("pandas", "plotly.graph_objects")
_lock = threading.Lock()


def import_shared() -> None:
    """Import them, or wait until another thread has."""
    with _lock:
        for name in SHARED_MODULES:
            import_module(name)
