"""Speed beside accuracy of each model and config of a matrix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import comparisons, results
from workbench.core.bundle.kinds import Part
from workbench.core.config import Config, StaticInt8
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.grid.matrix import Matrix, MatrixRecord
from workbench.features.grid.record import Place

STATIC = Config(precision=StaticInt8())


def matrix(kind: str = "faster") -> Matrix:
    runs = comparisons.drawn_run("A", 0.002), replace(comparisons.drawn_run("B", 0.001), config=STATIC)
    record = comparisons.comparison(*runs, kind=kind)
    places = (Place("tiny", None, (), record, None), Place("gone", None, (), None, "no such file"))
    return Matrix(MatrixRecord((), (Config(), STATIC), results.matrix().series, places))


def test_speed_and_accuracy_stand_side_by_side() -> None:
    trade = matrix().speed_and_accuracy(AccuracyTable(results.accuracy()))
    assert "1.83× faster, -1.00 points (-2.00 to +0.00)" in str(trade)
    (row,) = trade.chart().rows
    assert [values[0].value for values in row.values] == [1.83, -1.0]
    assert row.values[1][0].interval == (-2.0, 0.0)
    assert list(trade.to_frame()["ratio"]) == [1.83]
    assert "image/png" in trade._repr_mimebundle_()[0]
    assert trade.figure() is not None


@pytest.mark.parametrize(
    ("kind", "words"),
    [("slower", "1.83× slower"), ("tie", "tie"), ("unknown", "speed not settled")],
)
def test_each_verdict_has_its_words_and_no_accuracy_is_called_so(kind: str, words: str) -> None:
    text = str(matrix(kind).speed_and_accuracy())
    assert words in text
    assert "accuracy not measured" in text


def test_the_accuracy_that_is_kept_with_the_matrix_needs_no_table() -> None:
    kept = Matrix(matrix().record, parts=(Part("accuracy", results.accuracy(), None),))
    assert str(kept.speed_and_accuracy()) == str(
        matrix().speed_and_accuracy(AccuracyTable(results.accuracy()))
    )
    assert str(Matrix(replace(matrix().record, places=())).speed_and_accuracy()) == "Nothing was measured."
