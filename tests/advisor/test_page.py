"""The page of findings is made from the rules."""

from __future__ import annotations

from docs.findings import PAGE, page


def test_the_committed_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page()
