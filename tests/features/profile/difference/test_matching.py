"""Groups of nodes that do the same work: by hand, and laws that hold for any two graphs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.features.profile.difference.matching import Match, match

NO_MODULES: dict[str, str] = {}


def ancestors(**of: str) -> dict[str, frozenset[str]]:
    """`conv="c r"`: the node conv does the work of the source nodes c and r."""
    return {name: frozenset(sources.split()) for name, sources in of.items()}


def test_a_fused_node_is_set_against_what_it_replaced() -> None:
    a = ancestors(conv="conv", relu="relu", add="add")
    b = ancestors(fused="conv relu", add="add")
    assert match(a, b, NO_MODULES, NO_MODULES) == [
        Match(("conv", "relu"), ("fused",), "provenance"),
        Match(("add",), ("add",), "provenance"),
    ]


def test_overlapping_fusions_form_one_group() -> None:
    a = ancestors(one="m n", two="o p")
    b = ancestors(x="m", y="n o", z="p")
    assert match(a, b, NO_MODULES, NO_MODULES) == [Match(("one", "two"), ("x", "y", "z"), "provenance")]


def test_a_source_that_every_layer_took_in_does_not_tie_the_layers_together() -> None:
    a = ancestors(mask="mask", q0="q0", q1="q1")
    b = ancestors(attention0="mask q0", attention1="mask q1")
    assert match(a, b, NO_MODULES, NO_MODULES) == [
        Match(("q0",), ("attention0",), "provenance"),
        Match(("q1",), ("attention1",), "provenance"),
        Match(("mask",), (), None),
    ]


def test_twins_of_one_source_go_to_the_one_node_that_does_their_work() -> None:
    a = ancestors(first="s", second="s")
    b = ancestors(whole="s")
    assert match(a, b, NO_MODULES, NO_MODULES) == [Match(("first", "second"), ("whole",), "provenance")]


def test_untraced_nodes_match_by_name_and_what_is_left_by_module() -> None:
    a = ancestors(same="", left="", alone="")
    b = ancestors(same="", right="")
    modules_a, modules_b = {"left": "/layer", "same": "/other"}, {"right": "/layer"}
    assert match(a, b, modules_a, modules_b) == [
        Match(("same",), ("same",), "name"),
        Match(("left",), ("right",), "module"),
        Match(("alone",), (), None),
    ]


SIDES = st.dictionaries(
    st.sampled_from("nopqrstuvw"), st.frozensets(st.sampled_from("abcdefgh"), max_size=4), max_size=8
)


@given(SIDES, SIDES, st.booleans())
def test_every_node_is_in_one_group(
    a: dict[str, frozenset[str]], b: dict[str, frozenset[str]], modules: bool
) -> None:
    of_a = dict.fromkeys(a, "/m") if modules else NO_MODULES
    of_b = dict.fromkeys(b, "/m") if modules else NO_MODULES
    matches = match(a, b, of_a, of_b)
    assert sorted(name for pair in matches for name in pair.a) == sorted(a)
    assert sorted(name for pair in matches for name in pair.b) == sorted(b)
    assert all((pair.how is not None) == bool(pair.a and pair.b) for pair in matches)


@given(SIDES)
def test_a_graph_against_itself_leaves_nothing_alone(a: dict[str, frozenset[str]]) -> None:
    assert all(set(pair.a) == set(pair.b) for pair in match(a, a, NO_MODULES, NO_MODULES))
