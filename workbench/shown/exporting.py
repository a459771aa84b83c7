"""`wb.export_html`: a result as one HTML file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from workbench.records.atomic import write_atomically


def export_html(result: Any, path: str | os.PathLike[str]) -> Path:
    """Write a result as one HTML file that opens offline and asks for nothing, in light and in dark.

    >>> import workbench as wb
    >>> wb.export_html.__name__
    'export_html'
    """
    from workbench.shown.page.making import page_of  # with plotly and the views: only when it is written

    return write_atomically(path, page_of(result).encode("utf-8"))
