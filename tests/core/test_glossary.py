"""The words that need a sentence: one list, which tooltips and the glossary show."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

import pandas as pd
import pytest

from docs.words import PAGE, page
from tests.factories.comparisons import comparison, drawn_run, ordinary
from workbench.core.bundle.comparison import Doubt
from workbench.core.glossary import ALSO, WORDS, entries, explained, meaning
from workbench.drawing.latency import latency_table
from workbench.drawing.numbers import numbers_table
from workbench.drawing.page.banner import numbers_html, verdict_html
from workbench.drawing.page.pieces import table
from workbench.drawing.timeline import timeline_table
from workbench.drawing.verdict_picture import verdict_picture

MOST_WORDS = 20  # of a sentence
TAUGHT = {
    "p99", "SQNR", "signal to noise", "fusion", "roofline", "optimization level", "knee", "arena",
    "throughput", "interval", "CI", "tie", "round", "provider", "fallback", "warm-up", "median",
    "static int8", "dynamic int8", "calibration", "arithmetic intensity", "self time", "peak memory",
    "cold start", "IO binding", "partition", "doubt", "verdict", "ratio", "config", "run", "comparison",
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_word_has_one_plain_sentence(word: str) -> None:
    sentence = WORDS[word]
    assert sentence[0].isupper() or sentence[0].isdigit() or sentence.startswith("A's")
    assert sentence.endswith(".")
    assert len(sentence.split()) <= MOST_WORDS
    assert not re.search(r"[<>|*_`\[\]]", sentence), "it stands in tooltips and in a table of Markdown"


def test_each_word_that_a_teacher_would_explain_is_in_the_list() -> None:
    assert TAUGHT - {*WORDS, *ALSO} == set()
    assert {*ALSO.values()} <= {*WORDS}
    assert not {*WORDS} & {*ALSO}


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("p99 (ms)", "p99"), ("p99_ms", "p99"), ("p50_low_ms", "median"), ("self (ms)", "self time"),
        ("slowest 1 in 100", "p99"), ("samples_excluded", "excluded"), ("excluded because", "excluded"),
        ("samples", "sample"), ("partitions", "partition"), ("passes", "pass"),
        ("SQNR (dB)", "signal to noise"),
        ("peak rss (MiB)", "peak memory"), ("Provider", "provider"), ("load (ms)", "time to load"),
    ],
)  # fmt: skip
def test_a_name_is_explained_by_the_word_that_it_begins_with(name: str, word: str) -> None:
    assert explained(name) == meaning(word)


@pytest.mark.parametrize(
    "name", ["", "node", "outlier_ratio", "passing", "loader", "lowest", "roundabout", "p99.9"]
)
def test_another_name_has_no_tooltip(name: str) -> None:
    assert explained(name) == ""


def test_every_tile_and_every_head_of_an_answer_says_what_it_means() -> None:
    record = ordinary()
    html, tiles = verdict_html(record), verdict_picture(record, record.verdict).tiles
    assert len(tiles) == 5
    for tile in tiles:
        assert explained(tile.name)
        assert f'<div class="v-tile" title="{escape(explained(tile.name))}"' in html
    numbers = numbers_table(record)
    for head in numbers.heads:
        assert f'title="{escape(explained(head))}">{escape(head)}</th>' in numbers_html(numbers)
        assert explained(head)


def test_the_interval_of_the_headline_says_what_it_is() -> None:
    record, interval = ordinary(), escape(meaning("interval"))
    html = verdict_html(record)
    assert f'<div title="{interval}">95 % sure: between' in html
    assert f"{interval}</title>" in html, "of the scale, too"
    assert f'title="{escape(meaning("signal to noise"))}">Outputs agree (signal to noise' in html
    doubted = replace(record, doubts=(Doubt("noise", "A", "rounds scatter", "Measure longer."),))
    assert f'<summary title="{escape(meaning("doubt"))}">' in verdict_html(doubted)


@pytest.mark.parametrize(("kind", "word"), [("faster", "verdict"), ("tie", "tie")])
def test_a_headline_says_what_the_word_means(kind: str, word: str) -> None:
    record = ordinary()
    judged = replace(record, verdicts=(replace(record.verdict, kind=kind),))
    assert f'title="{escape(meaning(word))}"' in verdict_html(judged).partition("</b>")[0]


def test_a_table_of_a_page_explains_its_columns_and_trusts_none() -> None:
    frame = pd.DataFrame([[1.0, "x", 2.0]], columns=["p99_ms", "node", 'p90"><img src=x>'])
    html = table(frame, "a table")
    assert f'<th scope="col" class="number" title="{escape(meaning("p99"))}">p99_<wbr>ms</th>' in html
    assert '<th scope="col">node</th>' in html
    assert "<img" not in html


def test_the_tables_of_a_comparison_call_excluded_what_does_not_count() -> None:
    record = comparison(drawn_run("A", 0.002), drawn_run("B", 0.001, aside=(1,)))
    assert "samples_excluded" in latency_table(record).columns
    assert "excluded_because" in timeline_table(record).columns


def test_the_glossary_has_exactly_these_words() -> None:
    text = PAGE.read_text("utf-8")
    assert text == page()
    rows = re.findall(r"^\| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert rows == [("word", "means"), *entries()]
    assert len(rows) == len(WORDS) + 1


def test_a_reader_of_the_docs_finds_the_glossary() -> None:
    assert "](words.md)" in PAGE.with_name("index.md").read_text("utf-8")
    assert "](words.md)" in PAGE.with_name("panels.md").read_text("utf-8")


def test_a_name_of_other_letters_has_no_sentence() -> None:
    """They match without regard to case, and are not equal without it."""
    assert explained("interval") != ""
    assert [explained(name) for name in ("\u0131nterval", "\u0130nterval")] == ["", ""]
