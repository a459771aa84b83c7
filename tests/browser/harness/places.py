"""Where the first data of each tab stand, with one saved comparison for each way in which a verdict ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page

import workbench as wb
from tests.browser.harness.panels import TABS, tab
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.config import Config

MOST = 300  # pixels of what stands above the first data of a tab
WAYS = {  # kind of verdict → its ratio, its interval, the median of B in seconds
    "faster": (1.83, 1.79, 1.88, 0.0011),
    "tie": (1.001, 0.995, 1.007, 0.002),
    "unknown": (1.03, 0.93, 1.14, 0.00195),
}
SOURCE = """from dataclasses import replace
import workbench as wb
opened = wb.open({bundle!r})
opened.keep()
bench = wb.Workbench()
bench.show(opened)
parts = {{"improvement/A": wb.open({searched!r})}}
bench.state.answer = replace(bench.state.answer, parts=parts)
bench"""
KEPT = ("levels", "ablation", "accuracy", "thread scaling", "findings", "sweep")  # beside what is examined
DATA = "canvas, .main-svg .subplot, .main-svg .sankey, .wbt tbody, .wbp-finding, .wbp-fusion"
FROM_TOP = """selector => {
  for (const data of document.querySelectorAll(selector)) {
    const page = data.closest('.wbp-page');
    if (page && data.getClientRects().length && data.checkVisibility({visibilityProperty: true}))
      return {pixels: data.getBoundingClientRect().top - page.getBoundingClientRect().top};
  }
  return null;
}"""  # found and measured in one step: a view that is drawn again between two steps has no page


def record_of(way: str) -> ComparisonRecord:
    """Return a comparison that ended in this way."""
    ratio, low, high, median_s = WAYS[way]
    candidate = replace(drawn_run("B", median_s, aside=(3, 4)), config=Config(intra_op_threads=1))
    record = comparison(drawn_run("A", 0.002), candidate, kind=way)
    reason = "too few rounds: about 40 s more would settle it" if way == "unknown" else "the interval says so"
    verdict = replace(record.verdicts[0], ratio=ratio, low=low, high=high, reason=reason)
    return replace(record, verdicts=(verdict,))


def source_of(folder: Path, way: str) -> str:
    """Save a comparison with every kind of result; return the cell that shows it."""
    result = wb.Comparison(record_of(way), parts=examples.parts())
    for kind, part in examples.further().items():
        if kind in KEPT:
            result.add(part, "B")
    bundle = result.save(folder / f"{way}.ortbench")
    return SOURCE.format(bundle=str(bundle), searched=str(save_searched(folder / "searched.ortbench")))


def save_searched(path: Path) -> Path:
    """Save an improvement that tried fixes and searched configs, of which none is proven to be better."""
    record = examples.improvement()
    return wb.Improvement(replace(record, config=record.start, comparison=None)).save(path)


def first_data(page: Page, name: str) -> float:
    """Turn to a tab; return the pixels between its top and its first data."""
    tab(page, name)
    pixels: float = page.wait_for_function(FROM_TOP, arg=DATA).json_value()["pixels"]
    return pixels


def distances(page: Page) -> dict[str, float]:
    """Return the distance of the first data from the top of each tab."""
    return {name: first_data(page, name) for name in TABS}
