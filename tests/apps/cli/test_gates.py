"""What a command tells continuous integration: exit codes, Markdown and JUnit."""

from __future__ import annotations

import inspect
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import scipy  # a part of it is imported when it is first used

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from tests.factories.comparisons import failed, run
from tests.factories.records import comparison
from workbench.apps.cli import main
from workbench.apps.cli.checking import error_check, speed_check
from workbench.apps.cli.summaries import junit, markdown
from workbench.core.bundle.comparison import ComparisonRecord, Doubt, Kind
from workbench.core.bundle.run import Failure
from workbench.core.measure.apart import interval_apart
from workbench.core.measure.gates import FINE, OPEN, WORSE, Gate, exit_code, of_comparison
from workbench.features.accuracy.result import accuracy_gates
from workbench.features.base.registry import KINDS
from workbench.features.compare.result import Comparison
from workbench.features.deploy.record import deployment_gates
from workbench.features.grid.record import gates_of_grid
from workbench.features.measure import measurement_gates


def judged(kind: Kind) -> ComparisonRecord:
    record = comparison()
    return replace(record, verdicts=(replace(record.verdict, kind=kind),), doubts=())


def code(record: ComparisonRecord, *fail_if: str) -> int:
    return exit_code(of_comparison(record, fail_if))


@pytest.mark.parametrize(
    ("answers", "expected"), [((True,), FINE), ((True, False), WORSE), ((True, None), OPEN), ((), OPEN)]
)
def test_the_check_of_a_server_is_fine_only_where_all_outputs_were_compared(
    answers: tuple[bool | None, ...], expected: int
) -> None:
    record = examples.deployment()
    assert record.check is not None
    (row,) = record.check.agreement
    check = replace(record.check, agreement=tuple(replace(row, agrees=agrees) for agrees in answers))
    assert exit_code(deployment_gates(replace(record, check=check))) == expected
    assert exit_code(deployment_gates(replace(record, check=None))) == FINE


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("faster", FINE), ("tie", FINE), ("slower", WORSE), ("outputs differ", WORSE), ("unknown", OPEN)],
)
def test_a_verdict_has_an_exit_code_if_the_user_asked_for_it(kind: Kind, expected: int) -> None:
    assert code(judged(kind)) == FINE
    assert code(judged(kind), "slower", "differs", "unknown") == expected


def test_what_was_not_measured_never_passes() -> None:
    record = judged("unknown")
    failed = replace(record.runs[1], failure=Failure("load", "no kernel", "another one", ""), processes=())
    assert code(replace(record, runs=(record.runs[0], failed))) == OPEN


def test_a_provider_that_fell_back_is_not_measured() -> None:
    fallback = Doubt("fallback", "B", "CUDA is not available, it ran on the CPU", "install it")
    assert code(replace(judged("tie"), doubts=(fallback,))) == OPEN


def test_worse_comes_before_open() -> None:
    checks = [Gate("first", OPEN, ""), Gate("second", WORSE, ""), Gate("third", FINE, "")]
    assert exit_code(checks) == WORSE
    assert exit_code(checks[:1]) == OPEN
    assert exit_code([]) == FINE


CHECKS = (
    Gate("speed", WORSE, "3 % slower | <b>"),
    Gate("error", FINE, "0.1 %"),
    Gate("memory", OPEN, "unknown\x00"),
)


def test_markdown_has_checks_runs_and_doubts_without_foreign_markup() -> None:
    record = comparison()
    record = replace(record, model=replace(record.model, name="<script>`x`"))
    text = markdown(record, CHECKS)
    assert text.startswith(r"### \<script\>\`x\`: failed")
    assert r"| speed | failed | 3 % slower \| \<b\> |" in text
    assert text.count("| A |") == text.count("| B |") == 1


def test_a_summary_that_cannot_be_written_loses_no_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Comparison(comparison()), list(CHECKS)
    bundle, summary = tmp_path / "made.ortbench", tmp_path / "removed meanwhile" / "summary.md"
    report = summary.with_name("report.xml")
    summary.parent.mkdir()
    summary.write_text("older")

    def compare(_: object) -> object:
        assert summary.read_text() == "older"
        assert not report.exists()
        shutil.rmtree(summary.parent)
        return made

    monkeypatch.setattr("workbench.apps.cli.checking.compare_with_model", compare)
    arguments = ["check", "a.onnx", "--against", "b.onnx", "--output", str(bundle)]
    assert main([*arguments, "--markdown", str(summary), "--junit", str(report)]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert wb.open(bundle).record == made[0].record


@pytest.mark.parametrize(
    "command",
    [
        "compare no-such-model.onnx -o",
        "profile no-such-model.onnx --keep-trace",
        "compare-versions no-such-model.onnx --environments 1.20.0 --report",
        "check no-such-model.onnx --against no-such-model.onnx --junit",
    ],
)
def test_a_result_that_cannot_be_written_is_said_before_anything_runs(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "nowhere" / "made.ortbench"
    assert main([*command.split(), str(missing)]) == 2
    error = capsys.readouterr().err
    assert f"{str(missing)!r} cannot be written" in error
    assert "no-such-model" not in error
    assert not list(tmp_path.iterdir())


def test_junit_counts_failures_and_errors() -> None:
    suite = ElementTree.fromstring(junit(comparison(), CHECKS))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    failed, passed, unknown = suite
    assert [case.tag for case in (*failed, *passed, *unknown)] == ["failure", "system-out", "error"]
    assert failed[0].get("message") == "3 % slower | <b>"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        *[(0.99, 1.01, FINE), (0.94, 0.96, WORSE), (0.96, 0.98, OPEN), (2.0, 2.1, FINE), (None, None, OPEN)],
        *[(None, 0.37, WORSE), (2.7, None, FINE)],  # a large effect whose size is open
    ],
)
def test_a_slow_down_is_judged_by_its_interval(low: float | None, high: float | None, expected: int) -> None:
    assert speed_check(low, high, 0.03, "because").code == expected


def test_outputs_are_judged_by_the_largest_error() -> None:
    record = comparison()
    same = replace(record.agreement[0], relative_error=0.002)
    record = replace(record, agreement=(same,))
    assert error_check(record, None).code == error_check(record, 0.01).code == FINE
    assert error_check(record, 0.001).code == WORSE
    assert error_check(replace(record, agreement=(replace(same, agrees=False),)), None).code == WORSE
    assert error_check(replace(record, agreement=(replace(same, agrees=None),)), None).code == OPEN
    assert error_check(replace(record, agreement=()), None).code == OPEN


def test_runs_measured_apart_have_welchs_interval() -> None:
    before = run("A", [[[0.00100] * 4], [[0.00101] * 4], [[0.00102] * 4]])
    after = run("A", [[[0.00200] * 4], [[0.00202] * 4], [[0.00204] * 4]])
    estimate = interval_apart(before, after)
    assert estimate is not None
    assert estimate.middle == pytest.approx(math.log(0.5))
    expected = scipy.stats.ttest_ind(*([math.log(x) for x in xs] for xs in SESSIONS), equal_var=False)
    ends = expected.confidence_interval(0.95)
    assert (estimate.low, estimate.high) == pytest.approx((ends.low, ends.high))
    assert interval_apart(before, replace(after, processes=after.processes[:2])) is None


def test_times_of_nothing_in_a_bundle_have_an_interval_too() -> None:
    nothing, after = run("A", [[[0.0] * 4]] * 3), run("A", [[[0.002] * 4]] * 3)
    estimate = interval_apart(nothing, after)
    assert estimate is not None
    assert estimate.high < 0


GATES = [kind.name for kind in KINDS if kind.gates is not None]


@pytest.mark.parametrize("kind", GATES)
def test_every_command_that_judges_has_checks(kind: str) -> None:
    gates = KINDS.named(kind).gates
    assert gates is not None
    options: dict[str, Any] = {"fail_if": ()} if "fail_if" in inspect.signature(gates).parameters else {}
    checks = list(gates(examples.every_kind()[kind].record, **options))
    assert checks
    assert all(check.name and check.text for check in checks)


def test_points_and_models_that_were_not_measured_are_open_and_slower_ones_fail_if_asked() -> None:
    sweep, matrix = examples.sweep(), examples.matrix()
    assert [check.code for check in gates_of_grid(sweep, ())] == [FINE, FINE, OPEN]
    assert [check.code for check in gates_of_grid(sweep, ["slower"])] == [FINE, WORSE, OPEN]
    checks = list(gates_of_grid(matrix, ["slower"]))
    assert [(check.name, check.code) for check in checks] == [
        ("tiny: B against A", FINE), ("small: B against A", WORSE), ("gone", OPEN)
    ]  # fmt: skip


def test_a_percentile_that_had_to_be_known_and_is_not_is_open() -> None:
    record = replace(examples.measurement(), percentiles=(50.0, 99.99), until_settled=False)
    assert [check.code for check in measurement_gates(record)] == [FINE, FINE]
    settled = list(measurement_gates(replace(record, until_settled=True)))
    assert [check.code for check in settled] == [FINE, OPEN]
    lost = replace(record, measured=replace(record.measured, runs=(failed("A"),)))
    assert [check.code for check in measurement_gates(lost)] == [OPEN]


def test_a_drop_of_the_accuracy_fails_where_a_largest_one_is_given() -> None:
    record = examples.accuracy()
    assert {check.code for check in accuracy_gates(record, None)} == {FINE}
    codes = [[check.code for check in accuracy_gates(record, most)] for most in (0.5, 0.0)]
    assert codes[0] == [FINE, FINE]
    assert codes[1][1] in (WORSE, OPEN)


SESSIONS = ((0.00100, 0.00101, 0.00102), (0.00200, 0.00202, 0.00204))


@pytest.mark.real
def test_a_new_file_is_checked_against_the_old_one_and_against_a_bundle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, bundle = str(tiny.save(tiny.mlp(), tmp_path)), str(tmp_path / "old.ortbench")
    generous = ["--max-slower", "200%", "--budget", "3", "--quiet"]  # other programs come and go between both
    junit_file = tmp_path / "check.xml"
    code = main(["check", model, "--against", model, *generous, "--junit", str(junit_file)])
    assert code in (FINE, OPEN)
    assert "outputs: passed" in capsys.readouterr().out
    assert ElementTree.parse(junit_file).getroot().get("tests") == "2"
    assert main(["measure", model, "--budget", "2", "-o", bundle, "--no-history", "--quiet"]) == FINE
    assert main(["check", model, "--against", bundle, *generous]) in (FINE, OPEN)
    assert "different times" in capsys.readouterr().out
    assert main(["check", model, "--against", bundle, "--max-error", "1%"]) == 2
    assert "holds no outputs" in capsys.readouterr().err
