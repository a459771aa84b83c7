"""What the system does not tell is None, never 0."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from workbench.core.worker import child, usage

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's schedstat")


@linux
def test_a_delay_that_no_file_tells_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(usage.run_delay_ns(), int)

    def closed(*_: Any, **__: Any) -> Any:
        raise PermissionError

    monkeypatch.setattr(builtins, "open", closed)
    assert usage.run_delay_ns() is None


def test_a_worker_starts_also_where_it_cannot_offer_itself_to_the_memory_killer(tmp_path: Any) -> None:
    child.be_killed_first(str(tmp_path))
    child.be_killed_first(str(tmp_path / "score"))
    assert (tmp_path / "score").read_text() == "1000"
