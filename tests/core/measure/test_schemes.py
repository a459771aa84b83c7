"""What the recorded series says of schemes and estimators; `benchmarks.schemes` made it on a busy machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import stdev

import pytest

from benchmarks import schemes
from benchmarks.recorded import TRIES, estimators_table, rule_table
from benchmarks.schemes import ESTIMATORS, THE_RULE, main, series, table
from tests.factories.runs import block, process
from workbench.core.measure.pairs import pair_of

ROWS = series("busy-two-cores")
PAGE = (Path(__file__).parents[3] / "docs" / "measuring-evidence.md").read_text("utf-8")


def scatter(case: str, scheme: str, estimator: str) -> float:
    mine = [row["cycles"] for row in ROWS if (row["case"], row["scheme"]) == (case, scheme)]
    return stdev(ESTIMATORS[estimator](cycles) for cycles in mine)


def test_single_runs_scatter_least_where_all_threads_are_used() -> None:
    for case in ("digits-vit:all", "digits-conv:all", "mlp:all"):
        single = scatter(case, "1 run", "fastest three quarters")
        assert single < scatter(case, "20 ms", "fastest three quarters") / 2


def test_the_rule_scatters_less_than_more_of_the_runs_do() -> None:
    rule, most = (
        sum(scatter(row["case"], row["scheme"], name) for row in ROWS)
        for name in (THE_RULE, "fastest three quarters")
    )
    assert rule < most


def test_the_committed_table_of_estimators_is_that_of_the_recorded_rounds() -> None:
    assert estimators_table() in PAGE


def test_the_estimator_of_the_judge_is_its_own() -> None:
    a = [(4.0, 1.0, 2.0), (3.0, 9.0), (1.5, 2.5), (7.0, 1.2)]
    b = [(2.0, 5.0, 6.0), (1.1, 3.0), (2.2, 1.7), (0.9, 8.0)]
    first, second = (
        process(1, [replace(block(1.0), samples_s=samples_s) for samples_s in side]) for side in (a, b)
    )
    pair = pair_of(first, second)
    assert ESTIMATORS[THE_RULE]([(a[:2], b[:2]), (a[2:], b[2:])]) == pair.log_ratio == pair.log_ratio_all


def test_a_series_is_kept_under_its_name_and_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schemes, "SERIES", tmp_path)
    monkeypatch.setattr(schemes, "measure", lambda *_: ROWS)
    main(["--series", "quiet-two-cores"])
    made = capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["quiet-two-cores.json.gz"]
    main(["--replay", "quiet-two-cores"])
    assert capsys.readouterr().out == made == f"{table(ROWS)}\n"
    with pytest.raises(SystemExit):
        main(["--series", "quiet-two-cores"])
    assert "give another name" in capsys.readouterr().err


@pytest.mark.slow
def test_the_rule_on_recorded_rounds_is_that_of_the_page_and_claims_nothing_false() -> None:
    made = rule_table(TRIES)
    assert made in PAGE
    rows = [line.strip("| ").split(" | ") for line in made.splitlines()[2:]]
    assert {row[0] for row in rows} == {"quiet", "bursts", "one core", "two cores"}
    for _, _, effect, faster, slower, tie, unknown, _ in rows:
        assert int(faster) + int(slower) + int(tie) + int(unknown) == TRIES
        assert slower == "0"
        if effect == "1":
            assert faster == "0"
            assert int(tie) > 0
        if effect == "2":
            assert int(faster) == TRIES
