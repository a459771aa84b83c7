"""Laws: whatever is rewritten, the account adds up, and rewrites that we made ourselves are recovered."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import amount
from tests.features.explain.graphs import REWRITES, Draft, drafts
from workbench.core.models.graph import Graph
from workbench.features.explain.provenance.account import FATES, account, same_graph

PLANS = st.lists(st.tuples(st.sampled_from(REWRITES), st.integers(0, 1000)), min_size=0, max_size=8)


def _rewritten(draft: Draft, plan: list) -> list[tuple[str, int, Graph]]:
    chain = []
    for rewrite, pick in plan:
        if len(draft.nodes) > 1:
            rewrite(draft, pick)
            chain.append((rewrite.__name__, 1, draft.graph()))
    return chain


@settings(max_examples=amount(300))
@given(drafts(), PLANS)
def test_known_rewrites_are_recovered(draft: Draft, plan: list) -> None:
    source = draft.graph()
    result = account(source, _rewritten(draft, plan))
    assert {shuffled.node: set(shuffled.sources) for shuffled in result.optimized} == draft.sources
    lost = {shuffled.node: shuffled.fate for shuffled in result.sources if not shuffled.into}
    assert lost == draft.lost


@settings(max_examples=amount(200))
@given(drafts(), PLANS)
def test_the_account_adds_up(draft: Draft, plan: list) -> None:
    source = draft.graph()
    chain = _rewritten(draft, plan)
    result = account(source, chain)
    last = chain[-1][2] if chain else source
    assert [shuffled.node for shuffled in result.sources] == [node.key for node in source.nodes]
    assert [shuffled.node for shuffled in result.optimized] == [node.key for node in last.nodes]
    assert sum(Counter(shuffled.fate for shuffled in result.sources)[fate] for fate in FATES) == len(
        source.nodes
    )
    for shuffled in result.sources:
        assert bool(shuffled.into) == (shuffled.fate in ("kept", "fused"))
        assert all(
            shuffled.node in holder.sources for holder in result.optimized if holder.node in shuffled.into
        )


@settings(max_examples=amount(100))
@given(drafts())
def test_nothing_done_keeps_everything(draft: Draft) -> None:
    source = draft.graph()
    result = account(source, [("required", 0, source)])
    assert {shuffled.fate for shuffled in result.sources} == {"kept"}
    assert all(not shuffled.passes for shuffled in result.sources)
    assert result.changes[0].removed == result.changes[0].added == ()


@settings(max_examples=amount(150))
@given(drafts(), drafts())
def test_graphs_are_compared_by_what_they_compute(first: Draft, second: Draft) -> None:
    shuffled, two = first.graph(), second.graph()
    assert same_graph(shuffled, shuffled)
    assert same_graph(shuffled, two) == same_graph(two, shuffled)


@settings(max_examples=amount(100))
@given(drafts(), st.integers(0, 1000))
def test_a_rewritten_graph_is_another_graph(draft: Draft, pick: int) -> None:
    before = draft.graph()
    REWRITES[3](draft, pick)
    assert not same_graph(before, draft.graph())
