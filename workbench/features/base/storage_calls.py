"""What notebooks call about files: `export_html` writes a page, `storage` lists what is kept on disk."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from workbench.features.base.exportable import Exportable
from workbench.features.base.storage import Storage


def export_html(
    result: Exportable, path: str | os.PathLike[str], *, cancel: threading.Event | None = None
) -> Path:
    """Write a result as one HTML file that opens offline and asks for nothing, in light and in dark.

    `cancel` ends it with a Cancelled; a file that stood at `path` is left as it was.
    """
    return result.export_html(path, cancel=cancel)


def storage() -> Storage:
    """List what the workbench keeps on disk: how much, how old, and `.remove(…)`.

    >>> import workbench as wb
    >>> [row.name for row in wb.storage().rows][:2]
    ['samples', 'downloads']
    """
    return Storage()
