"""`wb.export_html`: a result as one HTML file."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from workbench.records.atomic import write_atomically
from workbench.records.bundle import unpack_record
from workbench.results.registry import KINDS
from workbench.results.sharing import packed


def export_html(result: Any, path: str | os.PathLike[str], *, cancel: threading.Event | None = None) -> Path:
    """Write a result as one HTML file that opens offline and asks for nothing, in light and in dark.

    `cancel` ends it with a Cancelled; a file that stood at `path` is left as it was.

    >>> import workbench as wb
    >>> wb.export_html.__name__
    'export_html'
    """
    from workbench.report.making import page_of  # with plotly and the views: only when it is written

    return write_atomically(path, page_of(_as_opened(result), cancel).encode("utf-8"))


def _as_opened(result: Any) -> Any:
    """The result that a reader of its bundle has: no path of this machine is in it."""
    return KINDS.result(unpack_record(packed(result, weights=True), KINDS))
