"""The hash of a file is remembered, whoever asks for it at the same time."""

from __future__ import annotations

import hashlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workbench.core.errors import Cancelled
from workbench.core.home import cache_folder
from workbench.core.models.fingerprint import file_sha256


@pytest.fixture
def settled(tmp_path: Path) -> Path:
    """A file that was last changed long ago, so that its hash is remembered."""
    path = tmp_path / "model.onnx"
    path.write_bytes(b"weights")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def test_many_threads_may_ask_at_once(settled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A and B of one comparison hash the same file, each in a thread of its own."""
    monkeypatch.setattr("workbench.core.models.fingerprint.SETTLED_S", -1.0)  # its inode changed just now
    wanted = hashlib.sha256(b"weights").hexdigest()
    for _ in range(30):
        with ThreadPoolExecutor(16) as pool:
            assert set(pool.map(file_sha256, [settled] * 16)) == {wanted}
        (note,) = (cache_folder() / "hashes").iterdir()  # and no half-written one beside it
        note.unlink()


def test_hashing_a_huge_file_hears_a_request_to_cancel(tmp_path: Path) -> None:
    path, cancel = tmp_path / "weights.bin", threading.Event()
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a file of holes takes no room and an hour to read
    threading.Timer(0.2, cancel.set).start()
    with pytest.raises(Cancelled):
        file_sha256(path, cancel)
