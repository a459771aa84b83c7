"""Figures of a public article on ONNX Runtime beside recorded ones and the reader's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.errors import ConfigError
from workbench.core.html_table import html_table
from workbench.core.text import did_you_mean, listed, one_line

NOT_RECORDED = "no recorded run"
LONGEST = 1_000  # characters of a claim or a caption
NOT_MEASURED = "not measured"
OWN_VALUES: dict[str, str] = {}  # the reader's values of single claims, kept for the table of their lesson


class ArticleRow(NamedTuple):
    """A figure of the article, the recorded one, the reader's own."""

    article: str
    recorded: str
    own: str


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
        own = self.no_value if value is None and self.no_value else _own(value, self.needs)
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
        printed = f"{cell}: {_cell(self.cells()[cell])}"
        return ArticleRow(printed, self.recorded.get(cell, NOT_RECORDED), _own(value, needs))

    def to_frame(self) -> DataFrame:
        """Return the table as the article prints it."""
        return data_frame(list(self.rows), columns=list(self.columns))

    def __repr__(self) -> str:
        return f"{self.id}: {self.title}; not stated: {', '.join(self.missing)}"

    def _repr_html_(self) -> str:
        rows = [[_cell(value) for value in row] for row in self.rows]
        return html_table(self.columns, rows, str(self), LONGEST)


class Article(NamedTuple):
    """What the lessons use of the article, by name."""

    claims: dict[str, Claim]
    tables: dict[str, ArticleTable]
    contradictions: frozenset[frozenset[str]]  # pairs of cells that cannot both be true
    hardware: dict[str, str]  # the words for what a claim or a cell needs to be measured


@dataclass(frozen=True, slots=True, repr=False)
class ArticleComparison:
    """Three columns: the article, the recorded run, this machine. Where no row has a value, one sentence."""

    title: str
    missing: tuple[str, ...]
    rows: tuple[ArticleRow, ...]

    def to_frame(self) -> DataFrame:
        """One row a figure; columns article, recorded, own."""
        return data_frame(list(self.rows), columns=ArticleRow._fields)

    def __repr__(self) -> str:
        starts = ("The article", "Recorded", "On this machine")
        rows, notes = self._shown()
        lines = (f"{start}: {text}" for row in rows for start, text in zip(starts, row, strict=False))
        return "\n".join([*lines, *notes])

    def _repr_html_(self) -> str:
        heads = ("the article", "recorded on two shared cores", "on this machine")
        rows, notes = self._shown()
        table = html_table(heads[: len(next(iter(rows), heads))], rows, self.title, LONGEST, left=True)
        return table + "".join(f"<p>{escape(note)}</p>" for note in notes)

    def _shown(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return the texts of all rows and the sentences below; where no row has a value, one says so."""
        owns = {row.own for row in self.rows}
        own, missing = next(iter(owns), ""), ", ".join(self.missing)
        nothing = len(self.rows) > 1 == len(owns) and own.startswith(NOT_MEASURED)
        notes = [f"On this machine: {own}."] if nothing else []
        notes += [f"The article does not state: {missing}."] if missing else []
        return [row[: 2 if nothing else 3] for row in self.rows], notes


def compare_with_article(name: str, value: Any) -> ArticleComparison:
    """Set the reader's value beside the article's and the recorded one.

    `name` is a claim, a cell of a table ("levels-latency/ResNet-50/best_speedup"), a table, or all claims of
    a lesson ("lesson-3"). For the last two `value` maps names of cells or of claims to values. The value of a
    single claim is kept, and stands in the table of its lesson too.

    >>> from workbench import course
    >>> course.compare_with_article("three-levels", 4).rows[0].own
    '4'
    """
    claims, tables = article_data().claims, article_data().tables
    if name in claims:
        claim = claims[name]
        if value is not None:
            OWN_VALUES[name] = _own(value)
        return ArticleComparison(claim.id, claim.missing, (claim.row(value),))
    of_lesson = {claim.id: claim for claim in claims.values() if name == f"lesson-{claim.lesson}"}
    if of_lesson:
        given = _named_values(name, value, of_lesson, "claims")
        measured = OWN_VALUES | {claim: value for claim, value in given.items() if value is not None}
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
    tables = article_data().tables
    if name not in tables:
        raise ConfigError(f"the lessons use no table {one_line(name, 60)!r}", f"name one of {listed(tables)}")
    return tables[name]


@cache
def article_data() -> Article:
    """Read the claims and tables that the lessons use."""
    from msgspec import convert, json

    data = json.decode(Path(__file__).with_name("article.json").read_bytes())
    claims = convert(data["claims"], tuple[Claim, ...])
    tables = convert(data["tables"], tuple[ArticleTable, ...])
    return Article(
        {claim.id: claim for claim in claims},
        {table.id: table for table in tables},
        frozenset(frozenset(row["cells"]) for row in data["contradictions"]),
        data["hardware"],
    )


def _own(value: Any, needs: str = "cpu") -> str:
    """Return the reader's value in words: a number, a text, the first line of a result, or why it is none."""
    if value is None:
        return NOT_MEASURED if needs == "cpu" else f"{NOT_MEASURED}: needs {article_data().hardware[needs]}"
    return f"{value:.4g}" if isinstance(value, float) else (str(value).splitlines() or [""])[0]


def _cell(value: Any) -> str:
    return "not stated" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
