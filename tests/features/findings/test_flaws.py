"""A part of `benchmarks.findings`: planted flaws are found with their nodes, sound models raise no alarm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from benchmarks import findings
from benchmarks.flaws.checking import exact_row, look_at, recall_row, sqnr_db
from benchmarks.flaws.flaw import MODELS, Flaw
from benchmarks.flaws.measuring import recovered
from benchmarks.flaws.report import report
from benchmarks.frame import rows_of
from workbench.core.config import Config
from workbench.core.models.loading import load
from workbench.core.worker.session import make_session
from workbench.features.findings.rule import rules

KINDS = {flaw.kind: flaw for flaw in findings.FLAWS}
FEW = (
    *(
        "Einsum for a product",
        "a Loop for a product",
        "odd channels",
        "GELU of tanh",
        "layer norm spelled out",
    ),
    *("batch norm and a second reader", "weights among the inputs", "more threads than cores"),
    *("labels that int8 misses", "an outlier in an activation", "constants in float16"),
)
WITH_SOUND_TWIN = (
    *("a power of ½, -½ or 4", "Einsum for a product", "casts to float16 and back", "a Loop for a product"),
    *("one-dimensional convolutions", "GELU with the half first", "GELU of tanh", "weights among the inputs"),
)


def test_there_are_thirty_kinds_of_flaw_and_each_has_another_name() -> None:
    assert len(KINDS) == len(findings.FLAWS) >= 30


def test_every_rule_has_a_flaw_or_the_reason_why_not() -> None:
    planted = {flaw.finding for flaw in findings.FLAWS}
    assert planted & findings.UNPLANTED.keys() == set()
    assert planted | findings.UNPLANTED.keys() == {rule.id for rule in rules()}


def test_the_report_counts_what_was_found() -> None:
    rows = [
        {"part": "recall", "name": "a flaw", "finding": "einsum", "number": number, "found": True,
         "failed": [], "nodes_right": number == 0, "confidence": "likely", "findings": ["einsum (likely)"]}
        for number in (0, 1)
    ]  # fmt: skip
    rows += [{"part": "exact", "name": "a flaw", "number": 0, "sqnr_db": 70.0, "bit_equal": False}]
    rows += [{"part": "gain", "name": "a flaw", "number": 0, "confidence": "maybe", "predicted": 1.2,
              "measured": 2.0, "low": None, "high": None}]  # fmt: skip
    text = report(rows)
    assert "| a flaw | einsum | 2, 1 of 2 | likely |" in text
    assert "Recall: 1 of 2 (50.0 %)" in text
    assert "Exact fixes: 1 of 1" in text
    assert "within a factor of 1.5: 0 of 1" in text


def test_tries_that_are_in_the_file_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"part": "speed", "name": "1,000 nodes", "number": 0, "scan_s": 0.5, "rules_s": 0.1,
           "peak_bytes": 90_000_000}  # fmt: skip
    monkeypatch.setattr(findings, "speed_rows", lambda _: [row])
    output = tmp_path / "rows.jsonl"
    for _ in range(2):
        findings.main(["--parts", "speed", "-o", str(output)])
    assert rows_of(output) == [row]
    assert "| 1,000 nodes | 0.50 s | 0.10 s | 0.60 s | 90 MB |  |" in capsys.readouterr().out


def improve_row_of(name: str, **more: Any) -> dict[str, Any]:
    return {"part": "improve", "name": name, "number": 0, "verdict": "tie", "recovered": None, **more}


def test_the_report_counts_what_was_recovered_of_proven_losses() -> None:
    end = {"verdict": "faster", "ratio": 2.0, "low": 1.9, "high": 2.1, "load": 0.2, "date": "2026-11-23"}
    rows = [
        improve_row_of("more than lost", **end, lost=1.8, loss="faster", recovered=1.125),
        improve_row_of("nothing back", lost=2.0, loss="faster", recovered=0.0, load=0.4, date="2026-11-24"),
        improve_row_of("no proven loss", lost=1.01, loss="unknown", recovered=-3.0),
        improve_row_of("a small loss", lost=1.02, loss="faster", recovered=-1.0),
        improve_row_of("no sound form"),
    ]
    text = report(rows)
    assert "| more than lost 0 | 2.00 (1.90 to 2.10) | faster | 1.80× (faster) | 112 % |" in text
    assert "Ended slower: 0 of 5 (goal 0 of 40), 4 kept nothing." in text
    assert "Recovered: 50 % on average (goal 80 %), at least 80 % in 1 of 2 (50.0 %)" in text
    assert "Load 0.2 to 0.4, 2026-11-24." in text


def test_the_recovered_share_is_of_the_lost_time() -> None:
    assert recovered(2.0, 2.0) == 1.0
    assert recovered(1.0, 4.0) == 0.0
    assert recovered(4 / 3, 2.0) == pytest.approx(0.5)  # 4 s, then 3 s, and 2 s of the sound model
    assert recovered(0.5, 2.0) == -2.0
    assert recovered(None, 2.0) is None
    assert recovered(1.0, 0.99) is None
    assert recovered(1.0, None) is None


def test_a_try_that_fails_ends_nothing_and_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = {"einsum"}

    def row_of(part: str, flaw: Flaw, *_: Any) -> dict[str, Any]:
        if flaw.finding in failing:
            raise ValueError("no such tensor")
        return {"verdict": "tie", "recovered": None} if part == "improve" else examined

    examined = {"confidence": "sure", "predicted": 1.5, "measured": 1.4, "low": None, "high": None}
    monkeypatch.setattr(findings, "look_at", lambda *_: None)
    monkeypatch.setattr(findings, "row_of", row_of)
    output = tmp_path / "rows.jsonl"
    only = ["--only", "einsum", "general-power", "--tries", "1"]
    call = ["--parts", "gain", "improve", *only, "--file", str(output)]
    findings.main(call)
    names = [(row["part"], row["finding"]) for row in rows_of(output)]
    assert names == [("improve", "general-power"), ("gain", "general-power")]
    assert "gain of Einsum for a product 0 is left out: ValueError: no such tensor" in capsys.readouterr().err
    failing.clear()
    findings.main([*call, "--minutes", "0"])
    assert [row["finding"] for row in rows_of(output)] == [
        "general-power",
        "general-power",
        "einsum",
    ]
    findings.main(call)
    assert len(rows_of(output)) == 4
    assert "Ended slower: 0 of 2" in capsys.readouterr().out


@pytest.mark.real
@pytest.mark.release
@pytest.mark.parametrize("kind", WITH_SOUND_TWIN)
def test_a_sound_model_computes_the_same_as_the_flawed_one(kind: str, tmp_path: Path) -> None:
    for number in range(MODELS):
        planted = KINDS[kind].plant(number)
        assert planted.sound is not None
        results: list[tuple[Any, list[str]]] = []
        for name, model in (("flawed", planted.model), ("sound", planted.sound)):
            onnx.save(model, tmp_path / f"{name}.onnx")
            session = make_session(
                str(tmp_path / f"{name}.onnx"), Config().plan().to_dict(), log_severity_level=3
            )
            feeds = load(tmp_path / f"{name}.onnx").inputs(seed=0).feeds[0]
            names = [output.name for output in session.get_outputs()]
            results.append((session.run(None, dict(feeds)), names))
        (flawed, names_before), (sound, names_after) = results
        assert names_after == names_before
        assert min(sqnr_db(*pair) for pair in zip(flawed, sound, strict=True)) >= 60


@pytest.mark.real
@pytest.mark.release
@pytest.mark.parametrize("kind", FEW)
def test_a_planted_flaw_is_found_with_its_nodes_and_an_exact_fix(kind: str, tmp_path: Path) -> None:
    looked = look_at(KINDS[kind].plant(0), tmp_path / "planted.onnx")
    row = recall_row(KINDS[kind], looked)
    assert (row["found"], row["nodes_right"], row["failed"]) == (True, True, []), row
    finding = looked.finding(KINDS[kind].finding)
    assert finding is not None
    fixed = exact_row(finding, looked)
    assert fixed is None or fixed["bit_equal"] or fixed["sqnr_db"] >= 60


@pytest.mark.real
@pytest.mark.release
@pytest.mark.parametrize("family", findings.SOUND)
def test_a_sound_model_has_at_most_one_likely_finding(family: str, tmp_path: Path) -> None:
    record = look_at(findings.SOUND[family](0), tmp_path / "sound.onnx").record
    assert [finding.id for finding in record.large if finding.confidence == "sure"] == []
    assert sum(finding.confidence == "likely" for finding in record.large) <= 1
