"""`workbench best` of saved results."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.core.bundle import golden
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run, ordinary
from workbench.apps.cli import main
from workbench.core.bundle.kinds import Part

GOLDEN = Path(golden.__file__).parent


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """A takes 2 ms, B 1.1 ms."""
    return str(wb.Comparison(ordinary()).save(tmp_path / "c.ortbench"))


def test_the_exit_code_is_the_answer(bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["best", bundle, "--max-p50", "5"]) == 0
    assert "yes: B" in capsys.readouterr().out
    assert main(["best", bundle, "--max-p50", "0.1"]) == 1
    assert ": no" in capsys.readouterr().out
    few = comparison(drawn_run("A", 0.002, blocks=2), drawn_run("B", 0.001, blocks=2))
    path = wb.Comparison(few).save(tmp_path / "few.ortbench")
    assert main(["best", str(path), "--max-p99", "1000"]) == 3
    assert "not settled" in capsys.readouterr().out


@pytest.mark.parametrize("bundle", sorted(GOLDEN.glob("*.ortbench")), ids=lambda path: path.stem)
def test_each_kind_of_result_answers_or_says_that_it_holds_no_configs(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = main(["best", str(bundle), "--max-p50", "10"]), capsys.readouterr()
    if code == 2:
        assert "holds no configs to choose from" in printed.err
    else:
        assert code in (0, 1, 3)
        assert printed.out


@pytest.mark.real
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize(("unbuffered", "code"), [("", 1), ("1", 128 + 13)])
def test_a_gate_whose_reader_has_closed_the_pipe_does_not_pass(
    bundle: str, unbuffered: str, code: int
) -> None:
    command = [sys.executable, "-m", "workbench", "best", bundle, "--max-p50", "0.1"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            command,
            stdout=writing,
            stderr=-1,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (code, "")


def test_units_are_milliseconds_mebibytes_and_shares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = wb.Comparison(ordinary(), parts=(Part("accuracy", examples.accuracy(), None),))
    path = str(result.save(tmp_path / "c.ortbench"))
    peak = max(process.peak_rss_bytes or 0 for process in ordinary().runs[0].processes)
    limits = ["--max-memory", str(peak / 2**20), "--max-accuracy-drop", "3%", "--csv"]
    assert main(["best", path, *limits]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {row["limit"] for row in rows} == {"memory", "accuracy"}
    assert main(["best", path, "--max-memory", str(peak / 2**20 / 2)]) == 1
    assert main(["best", path, "--max-file", "1000"]) == 0
    assert main(["best", path, "--max-file", "0.000001"]) == 1


def test_wrong_use_is_refused(bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    levels = str(wb.Levels(examples.levels()).save(tmp_path / "levels.ortbench"))
    for arguments, problem in (
        ([bundle], "no limit was given"),
        ([bundle, "--max-p99", "nan"], "is no limit"),
        ([bundle, "--max-memory", "nan"], "is no limit"),
        ([levels, "--max-p99", "1"], "no configs to choose from"),
    ):
        assert main(["best", *arguments]) == 2
        assert problem in capsys.readouterr().err


def test_a_sweep_answers_with_its_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = examples.sweep()
    measured = replace(record, places=tuple(point for point in record.places if point.measured is not None))
    path = str(wb.Sweep(measured, examples.about()).save(tmp_path / "sweep.ortbench"))
    assert main(["best", path, "--max-p99", "10"]) == 0
    assert "yes: A at batch 8" in capsys.readouterr().out
