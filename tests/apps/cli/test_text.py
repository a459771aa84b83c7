"""What a terminal shows of a record that anybody may have written."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import workbench as wb
from tests.factories.graphs import hostile
from tests.factories.records import block, comparison, process, run, write_bundle
from tests.factories.results import about
from workbench.apps.cli import main
from workbench.apps.cli.showing import table
from workbench.apps.cli.text import in_full
from workbench.core.bundle.comparison import ComparisonRecord, Doubt
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError

HOSTILE = "\x1b]0;owned\x07\r\nB is 99× faster\u202e" + "x" * 50_000


def stranger_s() -> ComparisonRecord:
    """Every text that has no format of its own is as bad as it can be."""
    record = comparison()
    config = Config(session_entries={"session.dynamic_block_base": "4"})
    return replace(
        record,
        model=replace(record.model, name=HOSTILE),
        runs=(record.runs[0], replace(record.runs[1], config=config, providers=(HOSTILE,))),
        agreement=tuple(replace(row, output=HOSTILE, reason=HOSTILE) for row in record.agreement),
        verdicts=(replace(record.verdict, kind="unknown", reason=HOSTILE),),
        doubts=(Doubt(HOSTILE, "B", HOSTILE, HOSTILE),),
    )


def test_a_stranger_s_bundle_is_harmless(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = write_bundle(stranger_s(), tmp_path / "stranger.ortbench")
    assert main(["show", str(bundle)]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert all(line.isprintable() and len(line) < 20_000 for line in lines)
    assert not any(line.startswith("B is 99×") for line in lines)


@pytest.mark.usefixtures("own_home")
def test_a_stranger_s_names_are_harmless_in_the_history(capsys: pytest.CaptureFixture[str]) -> None:
    wb.history().add(stranger_s(), note=HOSTILE)
    assert main(["history"]) == 0
    heads, row, rest = capsys.readouterr().out.split("\n")
    assert rest == ""
    assert row.isprintable()
    assert len(row) < 1_000
    assert heads.split()[0] == "id"


@pytest.mark.usefixtures("own_home")
def test_the_history_shows_no_speed_beside_outputs_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    record = comparison()
    wb.history().add(record)
    assert main(["history"]) == 0
    assert "1.83" in capsys.readouterr().out
    wb.history().delete(record.id)
    wb.history().add(replace(record, verdicts=(replace(record.verdict, kind="outputs differ"),)))
    assert main(["history"]) == 0
    printed = capsys.readouterr().out
    assert "outputs differ" in printed
    assert not any(figure in printed for figure in ("1.83", "1.79", "1.88"))


def test_errors_are_harmless(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        raise WorkbenchError("node \x1b[2J\u202e\nis bad", "rename it")

    monkeypatch.setattr(wb, "doctor", refuse)
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err == "workbench: node \\x1b[2J\\u202e\nis bad\nFix: rename it\n"


def test_a_terminal_without_our_letters_gets_escapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = write_bundle(comparison(), tmp_path / "one.ortbench")
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["show", str(bundle)]) == 0
    assert b"1.83\\xd7 faster" in screen.buffer.getvalue()  # type: ignore[attr-defined]


def test_percentiles_and_throughput_stand_with_their_intervals() -> None:
    samples = tuple(0.001 + at * 1e-6 for at in range(40))
    rounds = tuple(process(at, (block(0, samples), block(1, samples))) for at in range(3))
    record = replace(comparison(), runs=(replace(run("A"), processes=rounds), run("B", rounds=2)))
    rows = {line.split()[0]: line for line in in_full(record).splitlines() if line}
    assert "1.02 ms (1.014 to 1.025)" in rows["p50"]
    assert rows["p50"].endswith("1 ms")  # of two processes, which give no interval
    assert "not enough samples: 240 of 662" in rows["p99"]
    assert "not enough samples: 12 of 662" in rows["p99"]
    assert "980.9 runs/s (980.9 to 980.9)" in rows["throughput"]


def test_runs_that_took_no_time_have_no_throughput() -> None:
    stopped = replace(run("B"), processes=(process(0, (block(0, (0.0, 0.0)),)),))
    assert "the runs took less than a tick of the clock" in in_full(
        replace(comparison(), runs=(run("A"), stopped))
    )


@pytest.mark.usefixtures("without_plotly")
def test_any_result_is_shown_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = wb.Explanation(hostile(), about()).save(tmp_path / "explained.ortbench")
    assert main(["show", str(bundle)]) == 0
    shown = capsys.readouterr().out
    assert "2 source nodes" in shown
    assert "\u202e" not in shown
    page = tmp_path / "page.html"
    assert main(["report", str(bundle), "-o", str(page)]) == 0
    assert capsys.readouterr().out.strip() == str(page)
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert main(["report", "nothing-of-that-name", "-o", str(page)]) == 2
    assert "no record" in capsys.readouterr().err


def test_no_cell_of_a_table_reaches_the_terminal_as_it_is() -> None:
    text = table(pd.DataFrame({HOSTILE: [HOSTILE, None], "n": [1, 2]}))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert len(text) < 2_000
