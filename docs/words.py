"""Write docs/words.md from the glossary of the tooltips: `python -m docs.words`."""

from __future__ import annotations

from pathlib import Path

from workbench.core.glossary import entries

PAGE = Path(__file__).with_suffix(".md")
HEAD = """# Glossary

Point at a figure of the answer or at the head of a column: its tooltip says what the word means. These are
the words, with other names of the same thing.
"""
FOOT = """## What a verdict says

- *Faster* or *slower*: the whole interval of the ratio is beyond the smallest effect of interest (1 %). A
  large effect whose size is open is told as "at least 2.7× faster".
- *Tie*: the whole interval is within twice that.
- *Outputs differ*: no statement about speed.
- *Unknown*: it says what the interval excludes, and how much longer it would take to settle.

The ratio is the median over neighbouring blocks, each the mean of the fastest third of its passes over the
inputs ([measuring](measuring.md)). On a busy machine all blocks count, disturbed ones too. Tables and
figures also show medians and percentiles.

This page is made by `python -m docs.words`.
"""


def page() -> str:
    """Return the page: a row for each word."""
    rows = [f"| {names} | {sentence} |" for names, sentence in entries()]
    return "\n".join([HEAD, "| word | means |", "|---|---|", *rows, "", FOOT])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
