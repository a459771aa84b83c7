"""A change is found at its release: measurements stand in, the search and the report are real."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import workbench as wb
from tests.factories import results as examples
from workbench.apps.cli import main
from workbench.core.bundle.estimate import Estimate

RELEASES = ["1.20.1", "1.21.0", "1.22.0", "1.23.0"]
NOTHING = Estimate(1.001, 0.99, 1.01)
Measure = Callable[[str], dict[str, Any]]


def slower_from(release: str) -> Measure:
    """Latency doubles in this release; before it each is 2 % slower, which is another change."""

    def facts(other: str) -> dict[str, Any]:
        if other < release:
            return {"verdict": "slower", "ratio": Estimate(0.98, 0.97, 0.99), "outputs_agree": True}
        return {"verdict": "slower", "ratio": Estimate(0.5, 0.48, 0.52), "outputs_agree": True}

    return facts


def other_outputs_from(release: str) -> Measure:
    return lambda other: {
        "verdict": "outputs differ" if other >= release else "tie",
        "ratio": Estimate() if other >= release else NOTHING,
        "outputs_agree": other < release,
    }


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The places that were compared."""
    monkeypatch.setattr(
        "workbench.features.variants.versions.releases",
        lambda first, last, *_: [first, *RELEASES[1:3], last],
    )
    monkeypatch.setattr("workbench.features.variants.versions.profile", Profile)
    return []


class Profile:
    def __init__(self, *_: Any, **__: Any) -> None: ...

    def by(self, _group: str) -> pd.DataFrame:
        return pd.DataFrame({"op_type": ["Conv", "a|b"], "calls": [2.0, 1.0], "self_s": [0.002, 0.001]})


def put(monkeypatch: pytest.MonkeyPatch, seen: list[list[str]], facts: Measure) -> None:
    """Let measurements say what `facts` says of the second release."""
    example = examples.versions()

    def measure(_model: Any, places: list[str], _config: wb.Config, **_: Any) -> Any:
        seen.append(list(places))
        first, second = (
            replace(row, onnxruntime=place) for row, place in zip(example.rows, places, strict=True)
        )
        return replace(example, rows=(first, replace(second, failure=None, **facts(places[1]))))

    monkeypatch.setattr("workbench.features.variants.versions.compare_places", measure)


@pytest.mark.parametrize("release", RELEASES[1:])
@pytest.mark.parametrize(("kind", "words"), [(slower_from, "latency"), (other_outputs_from, "outputs")])
def test_the_release_of_the_change_is_found(
    monkeypatch: pytest.MonkeyPatch, measured: list[list[str]], release: str, kind: Any, words: str
) -> None:
    put(monkeypatch, measured, kind(release))
    result = wb.compare_versions("digits-conv", [RELEASES[0], RELEASES[-1]], bisect=True, keep=False)
    before = RELEASES[RELEASES.index(release) - 1]
    assert [row.onnxruntime for row in result.record.rows] == [before, release]
    assert str(result).startswith(f"The {words} changed from {before} to {release}")
    assert f"The {words} changed from {before} to {release}" in result.chart().sentences[0]
    assert len(measured) <= 4
    assert measured[0] == [RELEASES[0], RELEASES[-1]]


def test_no_change_is_said(monkeypatch: pytest.MonkeyPatch, measured: list[list[str]]) -> None:
    put(monkeypatch, measured, slower_from("9.9"))
    monkeypatch.setattr(
        "workbench.features.variants.versions.compare_places",
        lambda *_, **__: replace(
            examples.versions(),
            rows=tuple(
                replace(row, verdict="tie", ratio=NOTHING, outputs_agree=True)
                for row in examples.versions().rows
            ),
        ),
    )
    result = wb.compare_versions("digits-conv", RELEASES, bisect=True, keep=False)
    assert str(result).startswith("No change of outputs or latency is proved between")


@pytest.mark.parametrize("size", [Estimate(None, None, 0.4), Estimate(None, 2.7, None)])
def test_a_change_whose_size_is_open_is_found(
    monkeypatch: pytest.MonkeyPatch, measured: list[list[str]], size: Estimate
) -> None:
    far = {"verdict": "slower" if size.high else "faster", "ratio": size, "outputs_agree": True}
    same = {"verdict": "tie", "ratio": NOTHING, "outputs_agree": True}
    put(monkeypatch, measured, lambda other: far if other >= RELEASES[2] else same)
    result = wb.compare_versions("digits-conv", RELEASES, bisect=True, keep=False)
    assert [row.onnxruntime for row in result.record.rows] == RELEASES[1:3]
    assert str(result).startswith("The latency changed from 1.21.0 to 1.22.0, in 3 steps\n")


def test_an_interval_over_the_middle_is_said_to_settle_nothing(
    monkeypatch: pytest.MonkeyPatch, measured: list[list[str]]
) -> None:
    wide = {"verdict": "unsettled", "ratio": Estimate(0.72, 0.5, 0.95), "outputs_agree": True}
    sure = slower_from("1.20.2")
    put(monkeypatch, measured, lambda other: sure(other) if other == RELEASES[-1] else wide)
    result = wb.compare_versions("digits-conv", RELEASES, bisect=True, keep=False)
    assert "not every step was settled" in str(result)


def test_the_report_is_written_by_command_without_markup_or_paths(
    monkeypatch: pytest.MonkeyPatch, measured: list[list[str]], tmp_path: Path
) -> None:
    put(monkeypatch, measured, slower_from("1.22.0"))
    report = tmp_path / "issue.md"
    places = ["--environments", RELEASES[0], "--environments", RELEASES[-1]]
    command = ["compare-versions", "digits-conv", *places, "--bisect", "--report", str(report)]
    assert main([*command, "--no-history", "--quiet"]) == 0
    text = report.read_text("utf-8")
    assert text.splitlines()[0].endswith(": other latency on ONNX Runtime 1.22.0 than on 1.21.0")
    assert "- The latency changed from 1.21.0 to 1.22.0, in 3 steps" in text
    assert "## Operators of the file" in text
    assert "| a\\|b | 1 ms | 1 ms |" in text
    assert "| 1.21.0 | no | yes |" in text
    assert "## Outputs beside those of A" in text
    assert "<script" not in text.replace("\\<", "")
    assert str(tmp_path) not in text


def test_the_report_says_that_a_search_for_outputs_judges_no_speed(
    monkeypatch: pytest.MonkeyPatch, measured: list[list[str]]
) -> None:
    put(monkeypatch, measured, other_outputs_from("1.22.0"))
    report = wb.compare_versions("digits-conv", RELEASES, bisect=True, keep=False).report()
    assert "| 1.21.0 | no | yes | not known |" in report


@pytest.mark.parametrize("places", [["1.20.1", None], ["/x/env", "1.20.1"]])
def test_only_versions_are_searched(places: list[str | None]) -> None:
    with pytest.raises(wb.ConfigError, match="searches between versions"):
        wb.compare_versions("digits-conv", places, bisect=True, keep=False)


def test_a_release_that_does_not_run_is_named(
    monkeypatch: pytest.MonkeyPatch, measured: list[list[str]]
) -> None:
    broken = replace(examples.versions().rows[1], failure="no kernel", onnxruntime="1.22.0")
    record = replace(examples.versions(), rows=(examples.versions().rows[0], broken))
    monkeypatch.setattr("workbench.features.variants.versions.compare_places", lambda *_, **__: record)
    with pytest.raises(wb.RunFailed, match=r"1\.22\.0 does not run it: no kernel"):
        wb.compare_versions("digits-conv", RELEASES, bisect=True, keep=False)
    assert measured == []
