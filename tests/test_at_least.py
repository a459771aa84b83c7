"""A large effect whose size is open is told as such wherever a verdict is: "at least 2.7× faster"."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.factories.comparisons import ordinary
from workbench.apps.cli import main
from workbench.apps.panels.folded import verdict_in_words
from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.features.grid.acceptance import speed
from workbench.features.grid.winner import winner_of

REASON = "the 5 rounds differ too much to say by how much more"


def record(kind: str) -> ComparisonRecord:
    low, high = (2.7, None) if kind == "faster" else (None, 1 / 2.7)
    (verdict,) = ordinary().verdicts
    large = replace(verdict, kind=kind, ratio=None, low=low, high=high, reason=REASON)  # type: ignore[arg-type]
    return replace(ordinary(), verdicts=(large,))


@pytest.mark.parametrize("kind", ["faster", "slower"])
def test_every_text_of_a_comparison_says_at_least(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, path = f"t least 2.7× {kind}", tmp_path / "large.ortbench"
    wb.Comparison(record(kind)).save(path)
    opened = wb.open(path)
    assert opened.record == record(kind)
    assert str(opened).startswith(f"B is a{words}: {REASON}; ")
    page = tmp_path / "page.html"
    opened.export_html(page)
    assert f"A{words}" in page.read_text("utf-8")
    assert REASON[1:] in page.read_text("utf-8")
    assert f": a{words}" in verdict_in_words(opened.record)
    assert main(["show", str(path)]) == 0
    assert f"a{words}" in capsys.readouterr().out
    assert main(["show", str(path), "--json"]) == 0
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert (verdict["kind"], verdict["ratio"]) == (kind, None)


def test_a_large_effect_wins_and_passes_what_it_surely_reaches() -> None:
    faster, slower = (record(kind).verdicts[0] for kind in ("faster", "slower"))
    assert str(winner_of(record("faster"))) == "B wins"
    assert str(winner_of(record("slower"))) == "A wins"
    assert [passed(faster, least) for least in (1.0, 2.7, 3.0)] == [True, True, None]
    assert [passed(slower, least) for least in (1.0, 2.7)] == [False, False]


def passed(verdict: Verdict, least: float) -> bool | None:
    return speed(verdict, least).passed
