"""A lock file that its last holder removes is no lock for newcomers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from workbench.core.locked_folder import alone, try_lock


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_who_waited_for_a_removed_lock_file_locks_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = os.open(path, os.O_RDWR | os.O_CREAT)
    assert try_lock(holder)
    waits = []

    def release() -> None:
        waits.append(path.exists())
        path.unlink()
        os.close(holder)

    with alone(path, release):
        newcomer = os.open(path, os.O_RDWR)
        assert not try_lock(newcomer)
        os.close(newcomer)
    assert waits == [True]
