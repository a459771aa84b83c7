"""`wb.export_html`: a result as one HTML file."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from workbench.records.atomic import write_atomically


def export_html(result: Any, path: str | os.PathLike[str], *, cancel: threading.Event | None = None) -> Path:
    """Write a result as one HTML file that opens offline and asks for nothing, in light and in dark.

    `cancel` ends it with a Cancelled; a file that stood at `path` is left as it was.

    >>> import workbench as wb
    >>> wb.export_html.__name__
    'export_html'
    """
    from workbench.report.making import page_of  # with plotly and the views: only when it is written

    return write_atomically(path, page_of(result, cancel).encode("utf-8"))
