"""Laws: whatever is rewritten, the account adds up, and rewrites that we made ourselves are recovered."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.graphs import REWRITES, Draft, drafts
from workbench.analysis.graph import Graph
from workbench.analysis.provenance import account, same_graph
from workbench.analysis.provenance.account import FATES

PLANS = st.lists(st.tuples(st.sampled_from(REWRITES), st.integers(0, 1000)), min_size=0, max_size=8)


def _rewritten(draft: Draft, plan: list) -> list[tuple[str, int, Graph]]:
    chain = []
    for rewrite, pick in plan:
        if len(draft.nodes) > 1:
            rewrite(draft, pick)
            chain.append((rewrite.__name__, 1, draft.graph()))
    return chain


@settings(max_examples=300, deadline=None)
@given(drafts(), PLANS)
def test_known_rewrites_are_recovered(draft: Draft, plan: list) -> None:
    source = draft.graph()
    found = account(source, _rewritten(draft, plan))
    assert {one.node: set(one.sources) for one in found.optimized} == draft.sources
    lost = {one.node: one.fate for one in found.sources if not one.into}
    assert lost == draft.lost


@settings(max_examples=200, deadline=None)
@given(drafts(), PLANS)
def test_the_account_adds_up(draft: Draft, plan: list) -> None:
    source = draft.graph()
    chain = _rewritten(draft, plan)
    found = account(source, chain)
    last = chain[-1][2] if chain else source
    assert [one.node for one in found.sources] == [node.key for node in source.nodes]
    assert [one.node for one in found.optimized] == [node.key for node in last.nodes]
    assert sum(Counter(one.fate for one in found.sources)[fate] for fate in FATES) == len(source.nodes)
    for one in found.sources:
        assert bool(one.into) == (one.fate in ("kept", "fused"))
        assert all(one.node in holder.sources for holder in found.optimized if holder.node in one.into)


@settings(max_examples=100, deadline=None)
@given(drafts())
def test_nothing_done_keeps_everything(draft: Draft) -> None:
    source = draft.graph()
    found = account(source, [("required", 0, source)])
    assert {one.fate for one in found.sources} == {"kept"}
    assert all(not one.passes for one in found.sources)
    assert found.changes[0].removed == found.changes[0].added == ()


@settings(max_examples=150, deadline=None)
@given(drafts(), drafts())
def test_graphs_are_compared_by_what_they_compute(first: Draft, second: Draft) -> None:
    one, two = first.graph(), second.graph()
    assert same_graph(one, one)
    assert same_graph(one, two) == same_graph(two, one)


@settings(max_examples=100, deadline=None)
@given(drafts(), st.integers(0, 1000))
def test_a_rewritten_graph_is_another_graph(draft: Draft, pick: int) -> None:
    before = draft.graph()
    REWRITES[3](draft, pick)
    assert not same_graph(before, draft.graph())
