"""Further results beside a comparison: kept, saved, reopened and exported with it, whatever they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.core.errors import WorkbenchError
from workbench.features.base.history import History

MADE = examples.further()


def whole() -> wb.Comparison:
    """A comparison with one of each, about B."""
    result = wb.Comparison(ordinary())
    for further in MADE.values():
        result.add(further, "B")
    return result


def test_a_run_keeps_its_label() -> None:
    result = whole()
    for kind in ("memory", "roofline", "cold start"):
        assert set(result.made(kind, "B").to_frame()["label"]) == {"B"}
    both = wb.ColdStarts.of({"A": examples.start("A"), "B": examples.start("B")}, about=examples.about())
    result.add(both, "B")
    assert [part.label for part in result.parts if part.kind == "cold start"] == ["A", "B"]


def test_a_newer_one_takes_the_place_of_the_older() -> None:
    result = whole()
    before = len(result.parts)
    newer = replace(examples.levels(), model_name="newer")
    result.add(wb.Levels(newer), "B")
    assert len(result.parts) == before
    assert result.made("levels", "B").record == newer
    result.add(wb.Levels(newer), "A")
    assert len(result.parts) == before + 1


def test_what_is_not_there_says_so() -> None:
    with pytest.raises(WorkbenchError, match="has no levels of B"):
        wb.Comparison(ordinary()).made("levels", "B")


@pytest.mark.usefixtures("own_home")
def test_the_history_gets_it_too() -> None:
    result = wb.Comparison(ordinary())
    History().add(result.record, None)
    result.add(wb.Levels(examples.levels()), "B")
    assert wb.history().open(result.record.id).made("levels", "B").record == examples.levels()
