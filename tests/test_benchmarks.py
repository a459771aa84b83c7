"""The benchmark's own load dies with it, and its rows say where they come from."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks import honesty
from tests.factories.comparisons import ordinary

_PARENT = """
from benchmarks.burners import OnOffLoad
with OnOffLoad(1) as load:
    print(load._process.pid, flush=True)
    input()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="parents of POSIX")
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
        "pooled": {"Mann-Whitney": "", "Welch": ""},
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
    f"{folder}.{path.stem}"
    for folder in ("benchmarks", "docs")
    for path in (ROOT / folder).glob("*.py")
    if path.stem != "__init__"
)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_can_be_imported(script: str) -> None:
    """Tests run no benchmark, so a name that moved would break one unseen."""
    assert import_module(script).__doc__


def test_rates_of_studies_are_of_all_rows() -> None:
    from benchmarks import tune

    rows = [{"regret": 0.0, "gain": 0.7}] * 9 + [{"regret": 0.5, "gain": -0.1}]
    text = tune.report(rows)
    assert "10 studies: regret at most 2 % in 90%, 90 % of them at most 0.0%; 10.0% false promotions" in text
    assert tune.report([]) == "no study was measured"


def test_the_table_of_the_sweep_has_both_ways() -> None:
    from benchmarks.sweep import Row, table

    rows = [Row("one sweep", 12, 50.0, 20.0, 11), Row("comparisons", 12, 60.0, 20.0, 11)]
    assert table(rows, 0.5).splitlines()[4] == "| one sweep | 12 | 50.0 s | 20.0 s | 11 |"


def test_a_ratio_without_an_interval_is_printed_alone() -> None:
    from benchmarks.serving import in_words

    verdict = ordinary().verdicts[0]
    assert in_words(replace(verdict, ratio=1.5, low=1.25, high=1.75)) == "1.50 (1.25 to 1.75)"
    assert in_words(replace(verdict, ratio=1.5, low=None, high=None)) == "1.50"
    assert in_words(replace(verdict, ratio=None, low=None, high=None)) == "-"
