"""What the fixes of rules on layouts, on quantization and on outputs change, and what leaves them silent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.graphs import explained_of
from tests.factories.graphs import graph, node
from tests.features.findings.evidence import evidence, say
from tests.features.findings.test_more_rules import shaped
from tests.features.findings.test_rules import with_weight
from workbench.core.config import Config, DynamicInt8, StaticInt8, WeightOnly
from workbench.features.explain.passes.missed import Missed
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.record import FindingRecord


def found(rule_id: str, facts: Evidence) -> FindingRecord:
    """Return the only finding of a rule."""
    (finding,) = say(rule_id, facts)
    return finding


CONVOLUTION = [("c", "Conv", ("x", "w"), 90)]
BETWEEN_REORDERS = [
    ("a", "Conv", ("x", "w"), 60), ("o", "ReorderOutput", ("a",), 10), ("p", "Pad", ("o",), 10),
    ("i", "ReorderInput", ("p",), 10), ("b", "Conv", ("i", "w"), 60),
]  # fmt: skip
QUANTIZED = [
    ("q", "QuantizeLinear", ("x",), 10), ("d", "DequantizeLinear", ("q",), 10),
    ("m", "MatMul", ("d", "w"), 80),
]  # fmt: skip
FEW_BITS = [("m", "MatMulNBits", ("x", "w"), 90)]


@pytest.mark.parametrize(("channels", "speaks"), [(29, True), (32, False)])
def test_odd_channels_are_padded(channels: int, speaks: bool) -> None:
    facts = with_weight(CONVOLUTION, (8, channels, 3, 3))
    fixes = [finding.fix.config for finding in say("channels-miss-blocked-layout", facts)]
    assert fixes == [Config(rewrites=("channels-padded",))] * speaks


@pytest.mark.parametrize(("kernel", "speaks"), [((3,), True), ((1,), False), ((3, 3), False)])
def test_one_dimensional_convolutions_become_two_dimensional(kernel: tuple[int, ...], speaks: bool) -> None:
    facts = with_weight(CONVOLUTION, (8, 8, *kernel))
    fixes = [finding.fix.config for finding in say("one-dimensional-convolution", facts)]
    assert fixes == [Config(rewrites=("conv1d-to-2d",))] * speaks


@pytest.mark.parametrize(("rows", "speaks"), [(64, True), (4, False)])
def test_weights_of_few_bits_are_for_few_rows(rows: int, speaks: bool) -> None:
    facts = shaped(FEW_BITS, (8, 8), rows, config=Config(precision=WeightOnly()))
    assert [finding.fix.config for finding in say("weight-only-many-rows", facts)] == [Config()] * speaks


def test_reorders_that_cost_much_go_with_their_layout() -> None:
    asked = Config(disabled_passes=("NchwcTransformer",))
    assert found("layout-costs-more", evidence(BETWEEN_REORDERS[1:4])).fix.config == asked
    assert say("layout-costs-more", evidence(BETWEEN_REORDERS)) == []


def test_static_int8_without_convolutions_becomes_dynamic() -> None:
    facts = evidence(QUANTIZED, config=Config(precision=StaticInt8()))
    assert found("static-int8-transformer", facts).fix.config == Config(precision=DynamicInt8())
    assert say("static-int8-transformer", replace(facts, config=Config())) == []


def test_a_pad_between_reorders_is_left_to_the_convolution() -> None:
    finding = found("reorder-sandwich", evidence(BETWEEN_REORDERS))
    assert finding.nodes == ("o", "p", "i")
    assert finding.fix.code == 'padding_mode="zeros"'
    assert say("reorder-sandwich", evidence(CONVOLUTION)) == []


def test_outputs_that_block_a_fusion_are_not_exported() -> None:
    nodes = [("e", "Erf", ("x",), 90)]
    source = graph(node("e", "Erf", ("x",), "e"))
    blocked = Missed("gelu", ("e",), ("e",), (), "a tensor inside is an output of the model", "the graph")
    explained = explained_of(source, source)

    def missing(*places: Missed) -> Evidence:
        return evidence(nodes, explained=replace(explained, passes=replace(explained.passes, missed=places)))

    assert "output_hidden_states" in found("extra-output-blocks-fusion", missing(blocked)).fix.code
    assert say("extra-output-blocks-fusion", missing(replace(blocked, reason="another reader"))) == []
