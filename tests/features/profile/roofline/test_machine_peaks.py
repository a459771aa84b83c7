"""Peaks are measured once a machine and thread count, and kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import workbench as wb
from workbench.core.home import cache_folder
from workbench.features.profile.roofline import peaks as module
from workbench.features.profile.roofline.peaks import PeakRow, PeakTable, machine_peaks

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The float32 rates that the next measurements find, the first one first."""
    left: list[float] = []

    def measure(counts: tuple[int, ...], **_: object) -> PeakTable:
        return PeakTable(tuple(PeakRow(count, left.pop(0), None, 1e9, 0.5) for count in counts))

    monkeypatch.setattr(module, "measure_peaks", measure)
    monkeypatch.setattr("workbench.features.profile.calls.measure_peaks", measure)
    return left


def files() -> list[Path]:
    return sorted((cache_folder() / "peaks").glob("*.json"))


def test_what_was_measured_is_kept_with_its_doubt_and_better_when_measured_again(rates: list[float]) -> None:
    rates += [1e10, 5e9, 3e10]
    first = machine_peaks(2)
    assert first == machine_peaks(2) == PeakRow(2, 1e10, None, 1e9, 0.5)
    assert first.doubt is not None
    assert machine_peaks(2, again=True) == first, "a machine that was busy a moment ago"
    for best in (1e10, 3e10):
        (file,) = files()
        os.utime(file, (0, 0))
        assert machine_peaks(2, again=True).float32_flops == machine_peaks(2).float32_flops == best
    assert not rates


def test_each_thread_count_has_its_own_and_the_call_renews_them(rates: list[float]) -> None:
    rates += [1e10, 2e10, 7e9]
    assert [machine_peaks(count).float32_flops for count in (1, 2)] == [1e10, 2e10]
    assert wb.peaks([2]).rows[0].float32_flops == machine_peaks(2).float32_flops == 7e9
    assert len(files()) == 2
    assert wb.storage().remove("peaks") > 0
    assert not files()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"threads": 1}', "[" * 5000, '{"threads":1,"float32_flops":0,"int8_flops":null,'
             '"bytes_per_s":1,"others_cores":null}', '{"threads":1,"float32_flops":1e999,"int8_flops":null,'
             '"bytes_per_s":1,"others_cores":null}'],
)  # fmt: skip
def test_a_damaged_file_is_measured_again(rates: list[float], text: str) -> None:
    rates += [1e10, 2e10]
    machine_peaks(1)
    files()[0].write_text(text)
    assert machine_peaks(1).float32_flops == 2e10
