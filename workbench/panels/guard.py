"""ipywidgets swallows what a handler raises, so every handler runs inside `shown_in`."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from workbench.errors import WorkbenchError
from workbench.panels import widgets as W
from workbench.panels.markup import bug_html, error_html


@contextmanager
def shown_in(status: W.HTML) -> Iterator[None]:
    """Show any error in `status`; re-raise an error that is our own bug."""
    status.value = ""
    try:
        yield
    except WorkbenchError as error:
        status.value = error_html(error)
    except Exception:
        status.value = bug_html(traceback.format_exc())
        raise
