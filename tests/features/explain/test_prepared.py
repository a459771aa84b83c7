"""Source → prepared → optimized is one chain, whatever was done to the file before ORT saw it."""

from __future__ import annotations

from functools import cache

import pytest

from workbench.core.config import Config, DynamicInt8, Float16, StaticInt8, TransformerFusion, WeightOnly
from workbench.core.models import load
from workbench.features.explain.explanation import Explained, explain
from workbench.features.explain.observe import PREPARED

pytestmark = pytest.mark.real
CONFIGS = {
    "dynamic int8": Config(precision=DynamicInt8()),
    "static int8": Config(precision=StaticInt8()),
    "static int8, operators": Config(precision=StaticInt8(format="qoperator")),
    "float16": Config(precision=Float16()),
    "weights only": Config(precision=WeightOnly()),
    "fused": Config(fusion=TransformerFusion()),
}
QUICK = [("digits-conv", "dynamic int8"), ("char-gpt", "dynamic int8"), ("digits-vit", "fused")]
SLOW = [
    ("digits-conv", "static int8"), ("digits-vit", "static int8"), ("digits-conv", "static int8, operators"),
    ("digits-vit", "float16"), ("char-gpt", "weights only"),
]  # fmt: skip


@cache
def explanation_of(model: str, name: str) -> Explained:
    return explain(load(model), CONFIGS[name])


@pytest.mark.parametrize(
    ("model", "name"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
)
def test_it_adds_up_from_the_source_to_what_runs(model: str, name: str) -> None:
    explanation = explanation_of(model, name)
    account = explanation.provenance.account
    assert [fired_pass.node for fired_pass in account.sources] == [
        node.key for node in explanation.source.nodes
    ]
    assert [fired_pass.node for fired_pass in account.optimized] == [
        node.key for node in explanation.optimized.nodes
    ]
    assert explanation.provenance.unknown <= 0.005 * len(account.sources)
    assert explanation.provenance.untraced <= 0.005 * len(account.optimized)
    assert explanation.provenance.exact
    assert explanation.prepared is not explanation.source


def test_the_steps_stand_before_the_passes_and_cannot_be_switched_off() -> None:
    fired = explanation_of("char-gpt", "dynamic int8").passes.fired
    assert [fired_pass.name for fired_pass in fired if fired_pass.level == PREPARED] == [
        "pre-processing",
        "dynamic int8",
    ]
    assert [fired_pass.level for fired_pass in fired] == sorted(fired_pass.level for fired_pass in fired)
    assert not {"pre-processing", "dynamic int8"} & set(
        explanation_of("char-gpt", "dynamic int8").passes.names
    )


def test_a_fused_integer_kernel_does_the_work_of_the_float_nodes() -> None:
    explanation = explanation_of("char-gpt", "dynamic int8")
    kinds = {node.key: node.op_type for node in explanation.source.nodes}
    kernels = [
        {kinds[key] for key in fired_pass.sources}
        for fired_pass in explanation.provenance.account.optimized
        if fired_pass.op_type == "com.microsoft::DynamicQuantizeMatMul"
    ]
    assert kernels == [{"MatMul", "Add"}] * 13
