"""Figures of a public article on ONNX Runtime beside recorded ones and the reader's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.display import data_frame, frame_of, to_table
from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, listed, one_line

if TYPE_CHECKING:
    import pandas as pd

NOT_RECORDED = "no recorded run"
LESSON = "lesson-"  # begins the name of all claims of a lesson, such as "lesson-3"
LONGEST = 1_000  # characters of a claim or a caption
NOT_MEASURED = "not measured"
_MEASURED: dict[str, str] = {}  # the reader's values of single claims, kept for the table of their lesson


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the article in our words, what is missing for it to be checked, and what we recorded."""

    id: str
    claim: str
    verdict: str  # "true", "false", "outdated", "depends", "unchecked"
    recorded: str
    missing: tuple[str, ...]
    lesson: int
    needs: str = "cpu"  # or the hardware without which nothing can be measured
    no_value: str = ""  # why its lesson has no value; empty where it measures one

    def row(self, value: Any) -> ArticleRow:
        """Return the claim beside the reader's value; without one, why there is none."""
        own = (self.no_value or _unmeasured(self.needs)) if value is None else _own(value)
        return ArticleRow(self.claim, f"{self.verdict}: {self.recorded}", own)


@dataclass(frozen=True, slots=True, repr=False)
class ArticleTable:
    """A table of the article. A cell is named "table/row/column"."""

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    missing: tuple[str, ...]
    recorded: Mapping[str, str] = field(default_factory=dict)  # by the name of a cell
    needs: Mapping[str, str] = field(default_factory=dict)  # hardware by the name of a row, column or table

    def cells(self) -> dict[str, Any]:
        """Return the value of each cell by its name; absent ones are left out."""
        return {
            f"{self.id}/{row[0]}/{column}": value
            for row in self.rows
            for column, value in zip(self.columns[1:], row[1:], strict=True)
            if value is not None
        }

    def row(self, cell: str, value: Any) -> ArticleRow:
        """Return a cell beside the reader's value; without one, the hardware that it needs."""
        needs = next((self.needs[part] for part in cell.split("/") if part in self.needs), "cpu")
        own = _unmeasured(needs) if value is None else _own(value)
        return ArticleRow(f"{cell}: {_cell(self.cells()[cell])}", self.recorded.get(cell, NOT_RECORDED), own)

    def to_frame(self) -> pd.DataFrame:
        """Return the table as the article prints it."""
        return data_frame(list(self.rows), columns=list(self.columns))

    def __repr__(self) -> str:
        return f"{self.id}: {self.title}; not stated: {', '.join(self.missing)}"

    def _repr_html_(self) -> str:
        rows = [[_cell(value) for value in row] for row in self.rows]
        return to_table(self.columns, rows, str(self), LONGEST)


@dataclass(frozen=True, slots=True)
class ArticleRow:
    """A figure of the article, the recorded one, the reader's own."""

    article: str
    recorded: str
    own: str


@dataclass(frozen=True, slots=True, repr=False)
class ArticleComparison:
    """Three columns: the article, the recorded run, this machine. Where no row has a value, one sentence."""

    title: str
    missing: tuple[str, ...]
    rows: tuple[ArticleRow, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a figure; columns article, recorded, own."""
        return frame_of(self.rows, ("article", "recorded", "own"))

    def __repr__(self) -> str:
        starts = ("The article", "Recorded", "On this machine")
        lines = (
            f"{start}: {text}" for row in self._cells() for start, text in zip(starts, row, strict=False)
        )
        return "\n".join([*lines, *self._notes()])

    def _cells(self) -> list[tuple[str, ...]]:
        """Return the texts of all rows; without those of this machine where it measured nothing."""
        shown = 2 if self._unmeasured() else 3
        return [astuple(row)[:shown] for row in self.rows]

    def _unmeasured(self) -> str:
        """Return the words that all of several rows have in place of a value; empty where they differ."""
        owns = {row.own for row in self.rows}
        own = next(iter(owns), "")
        return own if len(self.rows) > 1 == len(owns) and own.startswith(NOT_MEASURED) else ""

    def _notes(self) -> list[str]:
        """Return the sentences below the rows."""
        own, missing = self._unmeasured(), ", ".join(self.missing)
        notes = (own and f"On this machine: {own}.", missing and f"The article does not state: {missing}.")
        return list(filter(None, notes))

    def _repr_html_(self) -> str:
        heads = ("the article", "recorded on two shared cores", "on this machine")
        rows = self._cells()
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return to_table(heads[: len(next(iter(rows), heads))], rows, self.title, LONGEST, left=True) + notes


def compare_with_article(name: str, value: Any) -> ArticleComparison:
    """Set the reader's value beside the article's and the recorded one.

    `name` is a claim, a cell of a table ("levels-latency/ResNet-50/best_speedup"), a table, or all claims of
    a lesson ("lesson-3"). For the last two `value` maps names of cells or of claims to values. The value of a
    single claim is kept, and stands in the table of its lesson too.

    >>> from workbench import course
    >>> course.compare_with_article("three-levels", 4).rows[0].own
    '4'
    """
    claims, tables = article_claims(), article_tables()
    if name in claims:
        claim = claims[name]
        if value is not None:
            _MEASURED[name] = _own(value)
        return ArticleComparison(claim.id, claim.missing, (claim.row(value),))
    of_lesson = {claim.id: claim for claim in claims.values() if name == f"{LESSON}{claim.lesson}"}
    if of_lesson:
        given = _named_values(name, value, of_lesson, "claims")
        measured = _MEASURED | {claim: value for claim, value in given.items() if value is not None}
        rows = tuple(claim.row(measured.get(claim.id)) for claim in of_lesson.values())
        return ArticleComparison("What the article claims on this subject", (), rows)
    table = tables.get(name.partition("/")[0])
    if table is None or (name != table.id and name not in table.cells()):
        known = [*claims, *tables, *(table.cells() if table else ())]
        raise ConfigError(
            f"the lessons use no claim, table or cell {one_line(name, 60)!r} of the article",
            f"{did_you_mean(name, known)}Name one of {listed(known)}",
        )
    own = _named_values(name, value if name == table.id else {name: value}, table.cells(), "cells")
    rows = tuple(table.row(cell, cell_value) for cell, cell_value in own.items())
    return ArticleComparison(table.title, table.missing, rows)


def _named_values(name: str, value: Any, known: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    """Return the reader's values by name; refuse what is no mapping of known names."""
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"a value for {name!r} is no mapping", f"give a dict such as {{{next(iter(known))!r}: 1.5}}"
        )
    unknown = [str(key) for key in value if key not in known]
    if unknown:
        raise ConfigError(f"{name!r} has no {what} {listed(unknown)}", f"name some of {listed(known)}")
    return value


def article_table(name: str) -> ArticleTable:
    """Return a table of the article.

    >>> from workbench import course
    >>> course.article_table("levels-latency").columns[0]
    'model'
    """
    tables = article_tables()
    if name not in tables:
        raise ConfigError(f"the lessons use no table {one_line(name, 60)!r}", f"name one of {listed(tables)}")
    return tables[name]


@cache
def article_claims() -> dict[str, Claim]:
    """Return the claims that the lessons use, by name."""
    return {row["id"]: Claim(**row) for row in _data()["claims"]}


@cache
def article_contradictions() -> frozenset[frozenset[str]]:
    """Return the pairs of cells that cannot both be true."""
    return frozenset(frozenset(row["cells"]) for row in _data()["contradictions"])


@cache
def article_tables() -> dict[str, ArticleTable]:
    """Return the tables that the lessons use, by name."""
    return {row["id"]: ArticleTable(**row) for row in _data()["tables"]}


def article_hardware() -> dict[str, str]:
    """Return the words for what a claim or a cell needs to be measured."""
    return dict(_data()["hardware"])


@cache
def _data() -> Any:
    return _tuples(json.loads(Path(__file__).with_name("article.json").read_text(encoding="utf-8")))


def _tuples(value: Any) -> Any:
    """Return JSON data with tuples in place of lists."""
    if isinstance(value, dict):
        return {name: _tuples(part) for name, part in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _unmeasured(needs: str) -> str:
    return NOT_MEASURED if needs == "cpu" else f"{NOT_MEASURED}: needs {article_hardware()[needs]}"


def _own(value: Any) -> str:
    """Return the reader's value in words: a number, a text, or the first line of a result."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return (str(value).splitlines() or [""])[0]


def _cell(value: Any) -> str:
    return "not stated" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
