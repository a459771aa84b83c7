"""What differs, in words."""

from __future__ import annotations

from hypothesis import given

from tests.core.config.strategies import configs
from workbench.core.config import Config
from workbench.core.config.difference import Change


def test_the_sentence() -> None:
    difference = Config().diff(Config(level="all", intra_op_threads=2))
    assert str(difference) == (
        "B differs from A in: level (all instead of ORT's default), "
        "intra-op threads (2 instead of ORT's choice)"
    )
    assert difference.sentence("A", "C").startswith("C differs from A in: ")


def test_nothing_differs() -> None:
    difference = Config(level="all").diff(Config(level="all"))
    assert not difference
    assert str(difference) == "B is the same as A"


def test_parts_are_told_one_by_one() -> None:
    before = Config(
        providers=[("cuda", {"device_id": 1}), "cpu"],
        session_entries={"session.set_denormal_as_zero": 1},
        free_dimensions={"batch": 1},
        spinning=True,
    )
    after = Config(
        providers=["tensorrt", ("cuda", {"use_tf32": False}), "cpu"],
        session_entries={"session.disable_prepacking": 1},
        free_dimensions={"batch": 8},
        spinning=False,
        disabled_passes=("ConvBNFusion",),
    )
    assert before.diff(after).changes == (
        Change("disabled_passes", "disabled passes", "none", "ConvBNFusion"),
        Change("providers", "providers", "cuda then cpu", "tensorrt then cuda then cpu"),
        Change("providers", "cuda device_id", "1", "its default"),
        Change("providers", "cuda use_tf32", "its default", "0"),
        Change("spinning", "spinning", "on", "off"),
        Change("free_dimensions", "dimension batch", "1", "8"),
        Change("session_entries", "session.disable_prepacking", "unset", "1"),
        Change("session_entries", "session.set_denormal_as_zero", "1", "unset"),
    )


def test_hostile_texts_are_escaped_and_cut() -> None:
    after = Config(free_dimensions={"<b>" + "x" * 1_000: 1})
    difference = Config().diff(after)
    assert "<b>" not in difference._repr_html_()
    assert len(str(difference)) < 300


@given(configs(), configs())
def test_a_difference_is_there_exactly_when_the_configs_differ(first: Config, other: Config) -> None:
    assert bool(first.diff(other)) == (first != other)
    assert not first.diff(first)
    there = [(change.field, change.what, change.before, change.after) for change in first.diff(other).changes]
    back = [(change.field, change.what, change.after, change.before) for change in other.diff(first).changes]
    assert {row for row in there if row[0] != "providers"} == {row for row in back if row[0] != "providers"}
