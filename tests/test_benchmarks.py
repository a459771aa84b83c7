"""The benchmark's own load dies with it, and its rows say where they come from."""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import math
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

import workbench as wb
from benchmarks import honesty, serving, tune_summary
from tests.factories.comparisons import ordinary
from workbench.core.config import Config
from workbench.drawing.verdict_picture import verdict_picture
from workbench.features.tune.space import Space

_PARENT = """
from benchmarks.burners import OnOffLoad
with OnOffLoad(1) as load:
    print(load.process.pid, flush=True)
    input()
"""


def test_the_naive_server_uses_only_names_that_it_has() -> None:
    nodes = [*ast.walk(ast.parse(serving.NAIVE))]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)} | {*dir(builtins), "__name__"}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {(node.asname or node.name) for node in nodes if isinstance(node, ast.alias)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert {node.id for node in names} <= bound


@pytest.mark.skipif(sys.platform == "win32", reason="parents of POSIX")
@pytest.mark.slow
def test_a_killed_benchmark_leaves_no_load() -> None:
    with subprocess.Popen([sys.executable, "-c", _PARENT], stdin=-1, stdout=-1, text=True) as parent:
        assert parent.stdout is not None
        load = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    _, alive = psutil.wait_procs([load], timeout=60)
    assert not alive


def row(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "part": "quiet",
        "model": "mlp",
        "kind": kind,
        "ratio": None,
        "low": None,
        "high": None,
        "rounds": 3,
        "elapsed_s": 2.0,
        "median_ms": 1.0,
        "blocks": {"loaded": 0, "loaded_flagged": 0, "clean": 4, "clean_flagged": 0},
        **more,
    }


def test_every_kind_is_counted_and_a_file_is_only_added_to_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row("outputs differ", workbench="0.1.0", ort="1.31.1"), row("tie")]
    monkeypatch.setattr(honesty, "measure", lambda *_: rows)
    output = tmp_path / "x.jsonl"
    honesty.main(["-o", str(output)])
    with pytest.raises(SystemExit):
        honesty.main(["-o", str(output)])
    honesty.main(["-o", str(output), "--append"])
    told = json.loads((tmp_path / "x.json").read_text())
    assert (told["workbench"], told["ort"]) == (["0.1.0"], ["1.31.1"])
    assert told["parts"]["quiet"]["tries"] == 4
    assert sum(told["parts"]["quiet"][kind] for kind in honesty.KINDS) == 4


ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("benchmarks", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if path.stem != "__init__"
)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_can_be_imported(script: str) -> None:
    """Tests run no benchmark, so a name that moved would break one unseen."""
    assert import_module(script).__doc__


def test_a_look_has_the_state_that_was_asked_for() -> None:
    from benchmarks.look_states import WAYS, record_in  # imports Playwright, like the looks themselves

    records = [record_in(state) for state in (*WAYS, "differ", "failed")]
    heads = [verdict_picture(record, record.verdict).head for record in records]
    assert heads == ["1.83× faster", "A tie", "Not settled yet", "Outputs differ", "B failed"]


def test_rates_of_studies_are_of_all_rows() -> None:
    rows = [{"regret": 0.0, "gain": 0.7}] * 9 + [{"regret": 0.5, "gain": -0.1}]
    text = tune_summary.report(rows)
    assert "10 studies: regret at most 2 % in 90%, 90 % of them at most 0.0%; 10.0% false promotions" in text
    assert tune_summary.report([]) == "no study was measured"


def tuned_rows() -> list[dict[str, Any]]:
    """Return the rows of a model: a good config, a bad one, and two studies that chose one of them each."""
    good, bad = "Config(disabled_passes=('GeluFusionL2',))", "Config(intra_op_threads=1)"
    common = {"model": "encoder", "goal": "Goal()"}
    study = {
        "kind": "study",
        "budget_s": 30.0,
        "elapsed_s": 30.0,
        "rounds": 2.0,
        "load": 0.1,
        "date": "today",
    }
    means_s = {"50": [0.001], "20": [0.001]}
    rows: list[dict[str, Any]] = [
        {"kind": "default", "elapsed_s": 180.0, "means_s": {"50": [0.002], "20": [0.002]}},
        {
            "kind": "truth",
            "config": good,
            "gain": 0.9,
            "rounds": 6,
            "means_s": means_s,
            "changes": ["disabled_passes"],
        },
        {
            "kind": "truth",
            "config": bad,
            "gain": -0.5,
            "rounds": 6,
            "means_s": means_s,
            "changes": ["intra_op_threads"],
        },
        {**study, "best": good},
        {**study, "best": bad},
        {**study, "best": bad, "budget_s": 60.0},
        {"kind": "again", "config": good, "gain": 0.7},
        {"kind": "again", "config": bad, "gain": -0.1},
    ]
    return [{**row, **common} for row in rows]


def test_the_regret_of_a_study_is_that_on_fresh_rounds() -> None:
    chosen, false = tune_summary.outcomes_of(tuned_rows(), 30.0)
    assert chosen == {"gain": 0.7, "regret": 0.0, "regret_to_leader": 0.0, "share": pytest.approx(1 / 6)}
    assert false["gain"] == -0.1
    assert false["regret"] == false["regret_to_leader"] == pytest.approx(math.expm1(0.8))
    assert tune_summary.outcomes_of([row for row in tuned_rows() if row["kind"] != "again"], 30.0) == []


def test_the_best_of_the_fresh_rounds_may_be_another_than_the_leader_of_the_search() -> None:
    rows = tuned_rows()
    lucky = {**rows[-1], "config": "Config(level='basic')", "gain": 0.75}
    (chosen, _) = tune_summary.outcomes_of([*rows, lucky], 30.0)
    assert chosen["regret"] == pytest.approx(math.expm1(0.05))
    assert chosen["regret_to_leader"] == 0.0


def test_no_measurement_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import tune

    def compared(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be measured")

    space = Space.of(intra_op_threads=(1,))
    monkeypatch.setattr(tune, "space_of", lambda *_: (None, None, space))
    for name in ("compare", "tune"):
        monkeypatch.setattr(f"workbench.{name}", compared)
    options = argparse.Namespace(exhaustive_budget=None, budget=30.0, tries=3)
    assert list(tune.measure("encoder", wb.Goal(), options, [], until=0.0)) == []
    with pytest.raises(AssertionError, match="nothing may be measured"):
        list(tune.measure("encoder", wb.Goal(), options, [], until=math.inf))


def test_a_study_that_ends_with_an_error_leaves_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import tune

    def refused(*_: object, **__: object) -> None:
        raise wb.ConfigError("nothing of the space may be tried", "give a longer budget_s")

    monkeypatch.setattr("workbench.tune", refused)
    nothing: Any = None
    row = tune.studied_row(nothing, nothing, Space(), wb.Goal(), 30.0, 2)
    assert (row["best"], row["try"], row["rounds"]) == (repr(Config()), 2, 0.0)
    assert "give a longer budget_s" in row["ended"]


def test_a_choice_that_computes_something_else_gains_nothing_on_fresh_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from benchmarks import tune

    record = ordinary()
    differs = replace(record, verdicts=(replace(record.verdict, kind="outputs differ"),))
    monkeypatch.setattr("workbench.compare", lambda *_, **__: wb.Comparison(differs))
    space, nothing = Space.of(intra_op_threads=(1,)), cast(Any, None)
    (chosen,) = (config for config in tune.configs_of(space).values() if config != Config())
    study = {"kind": "study", "best": tune.key(chosen)}
    (row,) = tune.again(nothing, nothing, space, 30.0, [study])
    assert (row["gain"], row["verdict"]) == (None, "outputs differ")
    assert tune_summary.outcome(study["best"], [study, row])["gain"] < 0


def test_configs_that_are_the_same_below_the_fusions_are_measured_once() -> None:
    from benchmarks.tune import key

    passes = ("GeluFusionL2", "BiasGeluFusion")
    assert key(Config(level="basic", disabled_passes=passes)) == repr(Config(level="basic"))
    assert key(Config(disabled_passes=passes)) == key(Config(disabled_passes=passes[::-1]))
    assert key(Config(disabled_passes=passes)) != key(Config(disabled_passes=passes[:1]))


def test_a_usual_way_is_replayed_on_recorded_processes() -> None:
    from benchmarks.tune import key
    from benchmarks.usual_searches import RUNS

    space = Space.of(disabled_passes=["GeluFusionL2"], intra_op_threads=(1,))
    for title in RUNS:
        text = tune_summary.replays(tuned_rows(), title, {"encoder": space}, key, 2)
        assert text.startswith(f"{title}, replayed: 2 studies: regret at most 2 % in ")
