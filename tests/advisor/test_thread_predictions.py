"""What the rules on threads predict: of the nodes that share their work, with an interval from nothing on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.advisor.evidence import evidence, say
from workbench.advisor.rules.threads import crowded
from workbench.analysis.threads.sharing import NodeSharing, Sharing
from workbench.config import Config
from workbench.records.findings import Gain

NODES = [("m", "MatMul", ("x", "w"), 600), ("t", "Tanh", ("m",), 400)]
CHAIN = [("a", "Relu", ("x",), 500), ("b", "Relu", ("a",), 500)]


def approximately(gain: Gain) -> Any:
    values = (gain.saved, gain.low, gain.high, gain.share)
    return Gain(gain.subject, *(pytest.approx(value) for value in values))


def sharing(helpers: int, wait_s: float) -> Sharing:
    return Sharing((NodeSharing("m", "MatMul", 10, 0.006, 0.006 - wait_s, wait_s, 0.0, helpers, 1.0),))


@pytest.mark.parametrize(
    ("threads_a_core", "slower"), [(1.0, 1.0), (2.0, 1.7), (3.0, 3.35), (4.0, 5.0), (16.0, 5.0)]
)
def test_crowding_lies_between_what_was_measured(threads_a_core: float, slower: float) -> None:
    assert crowded(threads_a_core) == pytest.approx(slower)


def test_without_statistics_the_whole_run_counts() -> None:
    (finding,) = say("too-many-threads", evidence(NODES, config=Config(intra_op_threads=8)))
    assert finding.confidence == "maybe"
    assert finding.gain == approximately(Gain("time", 0.0008, 0.0, 0.001 * (1 - 1 / 6.4), 0.8))
    assert finding.gain.ratio_text == "5.00× (1.00 to 6.40)"
    assert finding.evidence == ("usable cores 2, quota none",)


def test_only_nodes_that_share_their_work_gain() -> None:
    config = Config(intra_op_threads=4)
    facts = evidence(NODES, config=config, sharing=sharing(helpers=3, wait_s=0.003))
    (finding,) = say("too-many-threads", facts)
    saved_s = 0.0006 * (1 - 1 / 1.7)
    assert finding.gain == approximately(Gain("time", saved_s, 0.0, 0.0006 * (1 - 1 / 6.4), saved_s / 0.001))
    assert finding.evidence[1:] == (
        "nodes that share their work take 60 % of a run",
        "the calling thread waits for others for 30 %",
    )


def test_nodes_that_run_on_one_thread_make_it_a_small_thing() -> None:
    config = Config(intra_op_threads=4)
    for known in (Sharing(()), sharing(helpers=0, wait_s=0.0)):
        (finding,) = say("too-many-threads", evidence(NODES, config=config, sharing=known))
        assert finding.gain == Gain("time", 0.0, 0.0, 0.0, 0.0)
        assert finding.is_small


@pytest.mark.parametrize(
    ("config", "slower"),
    [
        (Config(execution_mode="parallel", inter_op_threads=2, intra_op_threads=1), 1.6),
        (Config(execution_mode="parallel", inter_op_threads=2), 2.7),
        (Config(execution_mode="parallel"), 2.7),
    ],
)
def test_the_parallel_mode_costs_more_where_both_pools_have_more_threads_than_cores(
    config: Config, slower: float
) -> None:
    (finding,) = say("parallel-chain", evidence(CHAIN, config=config))
    assert finding.confidence == "maybe"
    share = 1 - 1 / slower
    assert finding.gain == approximately(Gain("time", 0.001 * share, 0.0, 0.001 * (1 - 1 / 28), share))
