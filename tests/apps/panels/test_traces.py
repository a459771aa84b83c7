"""The flame tab's buttons: each profile in speedscope, its trace as a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.factories.comparisons import ordinary
from tests.factories.graphs import fused
from tests.factories.results import parts
from tests.features.profile import traces
from workbench.apps.panels.tabs.tab import TabPage

FLAME = "Where time goes"


@pytest.fixture
def bench(own_home: Path) -> wb.Workbench:
    del own_home
    return wb.Workbench()


def tools(bench: wb.Workbench, result: wb.Comparison) -> tuple[Any, ...]:
    """Return the widgets below the figures: for each profile a link and a button."""
    results = bench.panels.results
    bench.show(result)
    results.turn(FLAME)
    settle(bench)
    page = results.pages[FLAME]
    assert isinstance(page, TabPage)
    return page.tools.children


def test_without_a_profile_there_is_nothing_to_open(bench: wb.Workbench) -> None:
    assert tools(bench, wb.Comparison(ordinary())) == ()


def test_each_profile_opens_in_speedscope_and_can_be_downloaded(bench: wb.Workbench) -> None:
    shown = tools(bench, wb.Comparison(ordinary(), parts=parts(fused())))
    links, buttons = shown[::2], shown[1::2]
    assert [pressed.description for pressed in buttons] == ["Download trace A", "Download trace B"]
    addresses = {link.relative for link in links}
    assert len(addresses) == 2
    assert all(address.startswith("workbench/speedscope/") for address in addresses)
    sent: list[tuple[dict[str, Any], Any]] = []
    bench.page.bridge.send = lambda content, buffers=None: sent.append((content, buffers))
    buttons[-1].click()
    settle(bench)
    (asked, (data,)) = sent[0]
    assert asked["kind"] == "download"
    assert asked["name"].endswith("-B.trace.json")
    assert "/" not in asked["name"]
    assert json.loads(data)[0]["ph"] == "X"


def test_the_graph_shows_the_times_of_the_flame(tmp_path: Path) -> None:
    """Neither counts an interrupted run; the graph did, so that even the order of A and B flipped."""
    events, starts = [], (0, 1_000, 2_000, 3_000, 10_000)
    for start, spent in zip(starts, (10, 10, 10, 10, 5_000), strict=True):
        events += [
            traces.node("first", start + 1, spent),
            traces.event("model_run", start, spent + 2, "Session"),
        ]
    profile = wb.read_profile(traces.write(tmp_path, events), warmup_runs=0)
    assert profile.node_times_s() == {"first": pytest.approx(10e-6)}
