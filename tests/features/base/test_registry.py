"""The registry of result kinds: a kind in one file is saved, opened, exported and offered."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import get_args

import pytest

import workbench as wb
from workbench.core.bundle.comparison import Kind
from workbench.core.feature import Feature, Role, function_at
from workbench.core.form import values_of
from workbench.features.base.registry import KINDS
from workbench.features.base.written import written

OFFERED = [kind for kind in KINDS if kind.button]
GOLDEN = Path(__file__).parents[2] / "core" / "bundle" / "golden"
EXAMPLES = {
    "published files": {"source": "/x/bert"},
    "versions": {"environments": "/x/ort117"},
    "replay": {"shapes": "16, 37"},
}  # forms with a field that must be filled


@pytest.mark.parametrize("kind", OFFERED, ids=lambda kind: kind.name)
def test_an_offered_kind_has_a_function_that_takes_what_the_registry_says(kind: Feature) -> None:
    parameters = inspect.signature(kind.function).parameters
    assert {*kind.takes, "cancel"} <= set(parameters)
    assert kind.hint
    assert kind.tabs
    assert getattr(wb, kind.function.__name__) is kind.function


@pytest.mark.parametrize("kind", OFFERED, ids=lambda kind: kind.name)
def test_the_code_that_makes_a_kind_is_python(kind: Feature) -> None:
    code = kind.making_code(["b"], '"B"', values_of(kind.form, EXAMPLES.get(kind.name, {})))
    compile(code, "<code>", "eval")
    assert code.startswith("result.")


def test_everything_that_draws_a_result_exists() -> None:
    names = ("chart", "figure", "picture")
    places = [getattr(kind, name) for kind in KINDS for name in names]
    assert sum(map(bool, places)) > 25
    assert all(callable(function_at(place)) for place in places if place)


@pytest.mark.parametrize("kind", ["matrix", "sweep"])
def test_a_result_without_a_chart_says_what_draws_it(kind: str) -> None:
    result = wb.open(GOLDEN / f"{kind}-2.ortbench")
    with pytest.raises(wb.WorkbenchError, match=rf"A {kind.title()} has no chart: it is drawn otherwise"):
        result.chart()


def test_what_is_written_from_the_declarations_is_up_to_date() -> None:
    """When this fails: `python -m workbench.features.base.written`."""
    for path, text in written().items():
        assert path.read_text("utf-8") == text, path.name


def test_a_tab_offers_its_own_kinds_first() -> None:
    assert [kind.name for kind in KINDS.offered("Where time goes")][:1] == ["profile"]
    assert [kind.name for kind in KINDS.offered("What ORT did")][-1] == "profile", (
        "its own view is another one"
    )


def test_each_role_is_that_of_one_kind() -> None:
    """The panels ask a role for its kind; one of nobody, or of two, is a mistake."""
    roles = sorted(offer.role for offer in KINDS.offers if offer.role)
    assert roles == sorted(set(get_args(Role)) - {""})
    assert all(KINDS.in_role(offer.role) == offer for offer in KINDS.offers if offer.role)
    assert KINDS.in_role("") is None


def test_what_is_asked_next_has_an_order_and_is_about_a_verdict_or_precisions() -> None:
    asked = [offer.next_question for offer in KINDS.offers if offer.next_question]
    assert sorted(place for place, _, _ in asked) == [*range(1, len(asked) + 1)]
    assert {about for _, about, _ in asked} <= {"any", "precisions", *get_args(Kind)}


def test_examinable_kinds_are_about_one_run() -> None:
    assert KINDS.examinable == ("explanation", "profile", "memory", "cold start", "roofline", "findings")
    assert all(KINDS.named(name).per == "run" for name in KINDS.examinable)
