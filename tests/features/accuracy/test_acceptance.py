"""Only what is measured to be better is accepted."""

from dataclasses import replace

import pytest

from tests.drawing.test_accuracy import fidelity, record
from workbench.core.bundle.comparison import Verdict
from workbench.core.errors import ConfigError
from workbench.features.accuracy.record import Paired
from workbench.features.accuracy.result import AccuracyTable

FASTER = Verdict("B", "faster", 2.0, 1.9, 2.1, 0.95, 0.01, 5, False, "because")


def passed(verdict=FASTER, accuracy=None, **budget):
    results = AccuracyTable(accuracy or record()).accepts(verdict, **budget)
    return {check.what: check.passed for check in results}


@pytest.mark.parametrize(
    ("kind", "low", "high", "asked", "expected"),
    [
        ("faster", 1.9, 2.1, 1.0, True),
        ("faster", 1.9, 2.1, 1.9, True),
        ("faster", 1.9, 2.1, 2.0, None),  # the interval allows both
        ("faster", 1.9, 2.1, 2.5, False),
        ("tie", 0.99, 1.01, 1.0, False),
        ("slower", 0.5, 0.6, 1.0, False),
        ("unknown", 0.5, 3.0, 1.0, None),
        ("unknown", None, None, 1.0, None),
    ],
)
def test_the_whole_interval_of_the_speed_must_reach_it(kind, low, high, asked, expected):
    verdict = replace(FASTER, kind=kind, low=low, high=high)
    assert passed(verdict, min_speedup=asked) == {"speed": expected}


def test_outputs_that_differ_are_never_kept():
    assert passed(replace(FASTER, kind="outputs differ")) == {"outputs": False}


@pytest.mark.parametrize(("most", "expected"), [(0.1, True), (0.05, False)])
def test_the_error_is_that_of_the_worst_output(most, expected):
    assert passed(max_error=most)["error"] is expected


def test_an_error_without_end_or_without_knowledge_is_not_kept():
    endless = replace(record(), fidelity=(fidelity("B", problem="shape"),))
    assert passed(accuracy=endless, max_error=10.0)["error"] is False
    assert passed(accuracy=replace(record(), fidelity=()), max_error=10.0)["error"] is None


@pytest.mark.parametrize(("most", "expected"), [(0.04, True), (0.03, None), (0.0, None)])
def test_the_whole_interval_of_the_accuracy_must_be_within(most, expected):
    assert passed(max_drop=most)["accuracy"] is expected


def test_a_loss_that_is_certain_does_not_pass():
    first, second, third = record().scores
    lost = replace(second, against=Paired(-0.2, -0.3, -0.1, 0, 20, 0.0, "Tango"))
    assert passed(accuracy=replace(record(), scores=(first, lost, third)), max_drop=0.05)["accuracy"] is False


@pytest.mark.parametrize("limit", [{"min_speedup": "2"}, {"max_error": -1}, {"max_drop": "1 %"}])
def test_what_is_no_limit_is_refused(limit):
    with pytest.raises(ConfigError, match="is no limit"):
        passed(**limit)
