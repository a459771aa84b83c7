"""The article's figures, the recorded ones and the reader's own stand in three columns."""

from __future__ import annotations

import nbformat
import pytest

from workbench.apps import course
from workbench.apps.cli.notebooks import shipped_folder
from workbench.apps.course.article import (
    NOT_MEASURED,
    NOT_RECORDED,
    article_data,
)
from workbench.core.errors import ConfigError

FIGURE = "quantization-across-models"


@pytest.fixture(autouse=True)
def nothing_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """No value of another test stands in a table."""
    monkeypatch.setattr("workbench.apps.course.article.OWN_VALUES", {})


def test_a_claim_has_three_columns_and_its_missing_conditions() -> None:
    compared = course.compare_with_article("speedups-1.3-to-2", 2.5)
    assert list(compared.to_frame().columns) == ["article", "recorded", "own"]
    assert compared.rows[0].own == "2.5"
    assert "does not state: machine" in str(compared)


def test_a_cell_and_a_table_are_compared_too() -> None:
    cell = "levels-latency/ResNet-50/best_speedup"
    alone = course.compare_with_article(cell, 2.51)
    assert alone == course.compare_with_article("levels-latency", {cell: 2.51})
    assert alone.rows[0].article == f"{cell}: 1.56"
    assert alone.rows[0].recorded == NOT_RECORDED


def test_what_was_not_measured_is_called_so() -> None:
    assert course.compare_with_article("three-levels", None).rows[0].own == "not measured"


@pytest.mark.parametrize("name", ["", "levels", "levels-latency/ResNet-50", "levels-latency/x/y"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="use no claim, table or cell"):
        course.compare_with_article(name, 1)


def test_values_of_a_table_are_named_by_their_cells() -> None:
    with pytest.raises(ConfigError, match="no mapping"):
        course.compare_with_article("levels-latency", 2.0)
    with pytest.raises(ConfigError, match="has no cells 'x'"):
        course.compare_with_article("levels-latency", {"x": 2.0})


def test_the_data_are_whole() -> None:
    assert len(article_data().claims) >= 15
    for claim in article_data().claims.values():
        assert claim.verdict in ("true", "false", "outdated", "depends", "unchecked")
        assert claim.claim
        assert claim.recorded
    for table in article_data().tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert table.missing
        assert len(table.to_frame()) == len(table.rows)


def test_an_absent_value_is_no_cell() -> None:
    table = course.article_table("pytorch-latency")
    assert "pytorch-latency/LLaMA-7B/ort_tensorrt_ms" not in table.cells()
    assert "not stated" in table._repr_html_()
    with pytest.raises(ConfigError, match="no table 'x'"):
        course.article_table("x")


def test_what_is_displayed_is_escaped() -> None:
    assert "<b>" not in course.compare_with_article("three-levels", "<b>")._repr_html_()


def test_all_claims_of_a_lesson_stand_in_one_table() -> None:
    compared = course.compare_with_article("lesson-4", {"weights-transposed": "two reorders"})
    claims = [claim for claim in article_data().claims.values() if claim.lesson == 4]
    assert len(compared.rows) == len(claims) >= 5
    owns = {row.article: row.own for row in compared.rows}
    assert owns[article_data().claims["weights-transposed"].claim] == "two reorders"
    assert owns[article_data().claims["cnn-gain-only-1.6"].claim] == "not measured"
    assert owns[article_data().claims["exhaustive-search"].claim] == "not measured: needs a GPU"
    with pytest.raises(ConfigError, match="has no claims 'conv-bn'"):
        course.compare_with_article("lesson-4", {"conv-bn": 1})


def test_every_claim_and_every_table_of_the_article_stands_in_a_lesson() -> None:
    code = lesson_code()
    assert len(article_data().claims) == 157
    for lesson in {claim.lesson for claim in article_data().claims.values()}:
        assert f'compare_with_article("lesson-{lesson}"' in code[lesson]
    assert len(article_data().tables) == 11
    whole = "\n".join(code.values())
    whole = whole.replace("(figure, {", f'("{FIGURE}", {{')  # lesson 7 has its long name in a variable
    assert not [name for name in article_data().tables if f'compare_with_article("{name}' not in whole]


def test_a_claim_without_a_value_in_its_lesson_says_why() -> None:
    code = lesson_code()
    for claim in article_data().claims.values():
        has_value = f'"{claim.id}"' in code[claim.lesson]
        own = claim.row(None).own
        assert has_value or own != NOT_MEASURED, claim.id
        assert not (has_value and claim.no_value), f"{claim.id} has a value, and a reason for none"


def test_a_cell_that_needs_a_gpu_says_so() -> None:
    cells = course.article_table("standalone-tensorrt").cells()
    compared = course.compare_with_article("standalone-tensorrt", dict.fromkeys(cells))
    assert {row.own for row in compared.rows} == {"not measured: needs a GPU with TensorRT"}
    text, table = str(compared), compared._repr_html_()
    for shown in (text, table):
        assert shown.count("not measured: needs a GPU with TensorRT") == 1, "once for all rows"
        assert all(cell in shown for cell in cells)
    assert "on this machine" not in table
    values = {**dict.fromkeys(cells), next(iter(cells)): 3.5}
    one_known = course.compare_with_article("standalone-tensorrt", values)
    assert str(one_known).count("On this machine: ") == len(cells)
    assert ">on this machine</th>" in one_known._repr_html_()
    cell = "provider-latency/ResNet-50/cuda_ms"
    assert course.compare_with_article(cell, None).rows[0].own == "not measured: needs a GPU"
    assert course.compare_with_article(cell, 3.5).rows[0].own == "3.5"


def test_what_is_needed_has_words_and_names_a_part_of_its_table() -> None:
    assert {claim.needs for claim in article_data().claims.values()} - {
        "cpu"
    } <= article_data().hardware.keys()
    for table in article_data().tables.values():
        parts = {part for cell in table.cells() for part in cell.split("/")}
        assert set(table.needs) <= parts
        assert set(table.needs.values()) <= article_data().hardware.keys()


def test_a_claim_that_was_compared_alone_keeps_its_value_in_the_table_of_its_lesson() -> None:
    claim = article_data().claims["exhaustive-search"]
    course.compare_with_article(claim.id, None)
    assert own_values("lesson-4", {})[claim.claim] == "not measured: needs a GPU"
    course.compare_with_article(claim.id, "634 ms\nof a second line")
    course.compare_with_article(claim.id, None)
    assert own_values("lesson-4", {claim.id: None})[claim.claim] == "634 ms"
    assert own_values("lesson-4", {claim.id: 2})[claim.claim] == "2"


def lesson_code() -> dict[int, str]:
    paths = {int(path.name.partition("_")[0]): path for path in shipped_folder().glob("course/[0-9]*.ipynb")}
    return {
        number: "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
        for number, path in paths.items()
    }


def own_values(name: str, values: dict[str, object]) -> dict[str, str]:
    return {row.article: row.own for row in course.compare_with_article(name, values).rows}
