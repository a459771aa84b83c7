"""The exported page: every text is text, nothing may load, only our own scripts run."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.factories.comparisons import comparison, drawn_run, ordinary
from tests.factories.graphs import HOSTILE
from tests.factories.results import every_kind
from tests.features.base.strangers import NAMELESS_PAGES, stranger_s
from workbench.core.bundle.run import LogLine
from workbench.core.measure.percentiles import percentiles_frame

MOST_BYTES = 5_000_000  # beside plotly.js, which has as many


class Reader(HTMLParser):
    """Scripts that run, attributes that could, and the texts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.running: list[str] = []
        self.loading: list[str] = []
        self.handlers: list[str] = []
        self.texts: list[str] = []
        self._script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kinds = dict(attrs)
        self._script = tag == "script" and kinds.get("type") is None
        if self._script:
            self.running.append("")
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.loading += [
            f"{tag} {name}"
            for name, value in attrs
            if name in ("src", "href") and not (value or "").startswith(("#", "data:,"))
        ]

    def handle_data(self, data: str) -> None:
        if self._script:
            self.running[-1] += data
        else:
            self.texts.append(data)

    def handle_endtag(self, _tag: str) -> None:
        self._script = False


@pytest.mark.usefixtures("without_plotly")
@pytest.mark.parametrize("kind", every_kind())
def test_a_page_of_every_result(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Of a stranger's one: each of its texts would load or run something if it were taken for markup."""
    if kind != "comparison":
        request.getfixturevalue("without_measured")
    path = stranger_s(every_kind()[kind]).export_html(tmp_path / "page.html")
    page = path.read_text("utf-8")
    read = Reader(page)
    assert any("onerror=window.hacked=1" in text for text in read.texts) or kind in NAMELESS_PAGES
    assert read.loading == []
    assert read.handlers == []
    assert len(page.encode()) < MOST_BYTES
    policy = re.search(r"script-src ([^;]*);", page)
    assert policy is not None
    allowed = {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in read.running}
    assert set(policy[1].split()) == (allowed or {"'none'"})
    assert "default-src 'none'" in page
    assert "<h2>" in page


@pytest.mark.usefixtures("without_plotly")
def test_what_is_absent_says_so() -> None:
    page, _, absent = wb.Comparison(ordinary()).page_html().partition('<section id="absent">')
    assert "has no" not in page, "it stands together, below what there is"
    for kind in ("explanation", "profile", "memory", "cold start", "roofline"):
        assert f"has no {kind}" in absent or f"examine(&#x27;{kind}&#x27;)" in absent
    assert "Accuracy was not measured" in absent


def test_plotly_stands_in_it_once() -> None:
    page = every_kind()["comparison"].page_html()
    assert len(page) > 4_000_000
    assert page.count("plotly.js v") == 1
    assert page.count('class="plot"') > 5


@pytest.mark.usefixtures("without_plotly")
def test_a_view_too_large_for_a_page_is_a_picture(monkeypatch: Any) -> None:
    monkeypatch.setattr("workbench.drawing.page.document.MOST_VIEW_BYTES", 10)
    page = every_kind()["explanation"].page_html()
    assert "wbv-place" not in page
    assert "too large for a page" in page
    assert "<svg" in page


def test_a_long_table_says_what_it_leaves_out() -> None:
    import pandas as pd

    from workbench.drawing.page.pieces import table

    html = table(pd.DataFrame({HOSTILE: [None, 1.5, 3]}), HOSTILE, most=2)
    assert "The first 2 of 3 rows." in html
    assert "not known" in html
    assert "<script" not in html
    assert "<img" not in html


@pytest.mark.usefixtures("without_plotly")
def test_a_log_that_is_cut_says_so() -> None:
    record = ordinary()
    lines = {"A": 200, "B": 1234}
    runs = tuple(
        replace(run, log=(LogLine("W", "a warning"),) * count)
        for run, count in zip(record.runs, lines.values(), strict=True)
    )
    texts = Reader(wb.Comparison(replace(record, runs=runs)).page_html()).texts
    assert [text for text in texts if "lines." in text] == ["The first 200 of 1,234 lines."]
    assert sum(text.count("a warning") for text in texts) == 400


@pytest.mark.usefixtures("without_plotly")
def test_a_long_measurement_of_a_quick_model_has_no_exponents() -> None:
    record = comparison(drawn_run("A", 6e-6), drawn_run("B", 6e-6), kind="tie")
    record = replace(record, protocol=replace(record.protocol, elapsed_s=1234.5, sampling_s=1100.0))
    texts = Reader(wb.Comparison(record).page_html()).texts
    assert "1,234 s, 1,100 s of them sampling" in texts
    frame = percentiles_frame(record.runs).set_index(["label", "figure"])
    assert f"{frame.loc[('A', 'runs_per_s'), 'value']:,.0f}" in texts
    assert not [text for text in texts if re.fullmatch(r"[\d.]+e\+\d+", text)]
