"""Views in a page without a kernel, as text."""

from __future__ import annotations

import re

import pytest

from tests.factories.graphs import fused, hostile
from workbench.drawing.canvas.standalone import fragment, scripts
from workbench.features.explain.graph_view import graph_view


def test_several_views_share_the_code() -> None:
    views = [graph_view(fused()), graph_view(fused())]
    page = "".join(fragment(view) for view in views) + scripts(views)
    assert page.count("class Stage") == 1
    assert page.count('class="wbv-place"') == 2


@pytest.mark.parametrize("tag", ["script", "style"])
def test_no_text_of_a_model_ends_a_script(tag: str) -> None:
    view = graph_view(hostile())
    page = fragment(view, linked='"><b>') + scripts([view])
    opened, closed = (len(re.findall(f"<{end}{tag}[ >]", page)) for end in ("", "/"))
    assert opened == closed == {"script": 3, "style": 1}[tag]
    assert "<img" not in page
    assert "<b>" not in page


def test_the_page_asks_for_nothing() -> None:
    view = graph_view(fused())
    page = fragment(view) + scripts([view])
    assert not re.findall(r"https?:|@import|\bimport\s*\(|\beval\s*\(|innerHTML|new Function", page)
