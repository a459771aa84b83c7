"""What was opened before is offered again, also by the next kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from workbench.apps.panels.model_row import ModelRow
from workbench.apps.panels.recent import MOST, RECENT_FILE, recent, remember, with_recent
from workbench.core.home import data_folder

pytestmark = pytest.mark.usefixtures("own_home")


def test_the_next_kernel_offers_it(model: Path) -> None:
    wb.Workbench().load(str(model), wait=True)
    assert recent() == (str(model),)
    assert str(model) in ModelRow(wb.Workbench()).path.options


def test_the_newest_stands_first_once_and_the_list_is_bounded() -> None:
    for number in range(MOST + 3):
        remember(f"https://example.org/{number}.onnx")
    remember("https://example.org/5.onnx")
    assert recent()[:2] == ("https://example.org/5.onnx", f"https://example.org/{MOST + 2}.onnx")
    assert len(recent()) == len(set(recent())) == MOST


def test_paths_are_whole_and_secrets_are_not_written(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model.parent)
    remember(model.name)
    remember("https://user:word@example.org/x.onnx")
    remember("https://example.org/x.onnx?token=secret")
    remember(b"not a path")
    assert recent() == (str(model),)
    assert with_recent((), b"not a path") == ()


@pytest.mark.parametrize("held", [b"", b"{", b"{}", b"null", b"[1, null]", b"\xff", b"[" * 5_000])
def test_a_damaged_list_is_an_empty_one(held: bytes) -> None:
    (data_folder() / RECENT_FILE).write_bytes(held)
    assert recent() == ()
    remember("digits-conv")
    assert recent() == ("digits-conv",)


def test_a_home_that_cannot_be_written_opens_models_all_the_same(model: Path) -> None:
    (data_folder() / RECENT_FILE).mkdir()
    bench = wb.Workbench()
    bench.load(str(model), wait=True)
    assert bench.state.recent == (str(model),)
