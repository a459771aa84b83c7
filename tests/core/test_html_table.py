"""The one HTML table: escaped, heads that explain themselves, rows that have names, room to scroll."""

from __future__ import annotations

from html import escape

from workbench.core.glossary import meaning
from workbench.core.html_table import NUMBER, HtmlCell, facts_table, html_table, scrolling

LONG = "x" * 5_000


def test_texts_are_escaped_and_what_is_absent_says_so() -> None:
    assert html_table(("a&b",), [(None,), ("<i>",)], "<c>") == (
        '<table><caption>&lt;c&gt;</caption><thead><tr><th scope="col">a&amp;b</th></tr></thead>'
        "<tbody><tr><td>not known</td></tr><tr><td>&lt;i&gt;</td></tr></tbody></table>"
    )
    assert len(html_table((LONG,), [(LONG,)], LONG)) < 1_000


def test_a_head_explains_itself_and_may_break_after_an_underscore() -> None:
    html = html_table(("held_by_it", "p99_ms"), [])
    assert '<th scope="col">held_<wbr>by_<wbr>it</th>' in html
    assert f'<th scope="col" title="{escape(meaning("p99"))}">p99_<wbr>ms</th>' in html
    assert "<caption>" not in html


def test_a_cell_may_be_html_with_its_marks_and_texts_may_stand_to_the_left() -> None:
    rows = [(HtmlCell.naming("<A>"), "fast", HtmlCell("<b>1</b>", ' class="number"'))]
    html = html_table((), rows, kind="v-numbers", left=True)
    assert html.startswith('<table class="v-numbers"><tbody><tr><th scope="row"')
    assert "&lt;A&gt;</th>" in html
    assert '<td style="text-align: left">fast</td><td class="number"><b>1</b></td>' in html


def test_a_fact_has_its_lines_and_a_bound() -> None:
    html = facts_table([("CPU<", "it runs\nFix: <none>"), ("long", LONG)], "facts")
    assert "CPU&lt;</th>" in html
    assert ">it runs<br>Fix: &lt;none&gt;</td>" in html
    assert len(html) < 3_000


def test_a_wide_table_scrolls_in_a_region_that_the_keyboard_reaches() -> None:
    html = scrolling(html_table((), []), 'runs "A"')
    assert html.startswith('<div class="scroll" tabindex="0" role="region" aria-label="runs &quot;A&quot;">')


def test_a_head_stands_over_its_numbers() -> None:
    table = html_table(["name", "ms"], [["A", HtmlCell("2", NUMBER)]], numbers=["ms"])
    assert '<th scope="col">name</th><th scope="col" class="number">ms</th>' in table
