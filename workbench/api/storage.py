"""What notebooks call to see and remove what is kept on disk: `storage`."""

from __future__ import annotations

from workbench.results.storage import Storage


def storage() -> Storage:
    """List what the workbench keeps on disk: how much, how old, and `.remove(…)`.

    >>> import workbench as wb
    >>> wb.storage.__name__
    'storage'
    """
    return Storage()
