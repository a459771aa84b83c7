"""What ORT does to small models that we know, and to the light models of the onnx package."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.core.models import tiny
from tests.features.explain.conftest import Explain
from tests.features.explain.models import MODELS
from workbench.core.config import Config
from workbench.core.models import Model
from workbench.features.explain.explanation import explain

LIGHT = ("light_squeezenet", "light_shufflenet")
SLOW = ("light_resnet50", "light_inception_v2")


def _fates(explained: Explain, name: str) -> dict[str, str]:
    return {source.node: source.fate for source in explained(name).provenance.account.sources}


@pytest.mark.real
@pytest.mark.parametrize(
    "name", [*MODELS, *LIGHT, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)
def test_everything_is_accounted_for(explained: Explain, name: str) -> None:
    explanation = explained(name)
    account = explanation.provenance.account
    assert [source.node for source in account.sources] == [node.key for node in explanation.source.nodes]
    assert [target.node for target in account.optimized] == [node.key for node in explanation.optimized.nodes]
    assert (explanation.provenance.unknown, explanation.provenance.untraced) == (0, 0)
    assert explanation.provenance.exact
    assert explanation.provenance.problem is None
    assert sum(Counter(source.fate for source in account.sources).values()) == len(explanation.source.nodes)


@pytest.mark.real
def test_a_gelu_is_fused_with_its_bias(explained: Explain) -> None:
    explanation = explained("gelu")
    by_node = {source.node: source for source in explanation.provenance.account.sources}
    into = {by_node[name].into for name in ("bias", "div", "erf", "plus", "times", "halve")}
    assert len(into) == 1
    assert by_node["erf"].fate == "fused"
    assert {"GeluFusionL2", "BiasGeluFusion"} & set(by_node["erf"].passes)
    assert by_node["nothing"].fate == "eliminated"
    assert by_node["nothing"].passes == ("EliminateIdentity",)
    assert by_node["matmul"].fate == by_node["relu"].fate == "kept"


@pytest.mark.real
def test_nodes_without_names_are_named_and_joined(explained: Explain) -> None:
    explanation = explained("gelu unnamed")
    assert all(node.name for node in explanation.source.nodes)
    assert [node.op_type for node in explanation.optimized.nodes] == [
        node.op_type for node in explained("gelu").optimized.nodes
    ]
    assert {provider for _, provider in explanation.placement.sources if provider} == {"CPUExecutionProvider"}


@pytest.mark.real
def test_a_convolution_swallows_what_stands_around_it(explained: Explain) -> None:
    account = explained("conv").provenance.account
    together = {frozenset(target.sources) for target in account.optimized}
    assert frozenset(("conv1", "norm1", "relu1")) in together
    assert frozenset(("conv2", "residual", "relu2")) in together
    assert all("relu3" not in origins or "conv3" not in origins for origins in together)


@pytest.mark.real
def test_a_fusion_that_did_not_happen_is_named_with_its_reason(explained: Explain) -> None:
    missed = {place.nodes: place for place in explained("conv").passes.missed}
    place = missed["conv3", "relu3"]
    assert place.pattern == "conv + activation"
    assert (place.reason, place.reason_from) == ("conv3 has 2 readers", "the graph")
    assert ("conv1", "norm1") not in missed


@pytest.mark.real
def test_bodies_are_part_of_the_account(explained: Explain) -> None:
    explanation = explained("branches")
    keys = [node.key for node in explanation.source.nodes]
    assert "choose/then_branch::work" in keys
    assert "choose/else_branch::work_0" in keys  # names are unique in the whole model
    choose = explanation.source.by_key["choose"]
    assert "h" in choose.reads
    assert "h" not in choose.inputs
    assert _fates(explained, "branches")["choose/then_branch::work"] == "kept"


@pytest.mark.real
def test_shapes_fold_and_twins_are_one(explained: Explain) -> None:
    fates = _fates(explained, "shapes")
    assert fates["shape"] == fates["join"] == "folded"
    assert sorted((fates["exp1"], fates["exp2"])) == ["eliminated", "kept"]


@pytest.mark.real
def test_passes_are_in_order_with_exact_changes(explained: Explain) -> None:
    passes = explained("gelu").passes
    levels = [fired_pass.level for fired_pass in passes.fired]
    assert levels == sorted(levels)
    assert passes.fired[0].name == "required"
    identity = next(fired_pass for fired_pass in passes.fired if fired_pass.name == "EliminateIdentity")
    assert identity.change.removed == ("nothing",)
    assert identity.change.added == ()
    assert "required" not in passes.names
    assert passes.fired[-1].change.nodes_after == passes.statistics.optimized_nodes
    assert {name for name, _ in passes.tried} >= {"ConstantFolding", "NchwcTransformer", "AttentionFusion"}


@pytest.mark.slow
@pytest.mark.real
def test_counts_add_up(explained: Explain) -> None:
    explanation = explained("light_squeezenet")
    numbers = explanation.passes.statistics
    assert sum(count.before for count in numbers.ops) == numbers.source_nodes == len(explanation.source.nodes)
    assert (
        sum(count.after for count in numbers.ops)
        == numbers.optimized_nodes
        == len(explanation.optimized.nodes)
    )
    assert numbers.fused_nodes == sum(fusion.count for fusion in numbers.fusions)
    assert numbers.fusions[0].into == "com.microsoft.nchwc::Conv"


@pytest.mark.real
def test_quantized_parts_become_integer_kernels(explained: Explain) -> None:
    account = explained("duplicated").provenance.account
    fates = {source.node: source for source in account.sources}
    assert fates["add"].into == fates["quantize_sum"].into
    kinds = {target.node: target.op_type for target in account.optimized}
    assert kinds[fates["mul"].into[0]] == "com.microsoft::QLinearMul"


@pytest.mark.real
def test_what_ort_casts_in_between_is_no_source_s_work(explained: Explain) -> None:
    explanation = explained("half")
    inserted = [node for node in explanation.provenance.account.optimized if node.inserted]
    assert inserted
    assert {node.op_type for node in inserted} == {"Cast"}
    assert all(not node.sources for node in inserted)
    assert {node.node for node in explanation.placement.nodes if node.inserted} >= {
        node.node for node in inserted
    }


@pytest.mark.real
def test_a_call_is_what_its_body_computes(explained: Explain) -> None:
    explanation = explained("calls")
    into = {source.node: source.into for source in explanation.provenance.account.sources}
    assert len(into["first"]) == len(into["second"]) == 2
    assert not set(into["first"]) & set(into["second"])


@pytest.mark.real
def test_a_provider_without_its_libraries_is_explained(tmp_path: Path) -> None:
    path = tiny.save(MODELS["gelu"](), tmp_path)
    placement = explain(Model(path, "gelu"), Config(providers=("cuda", "cpu"))).placement
    if placement.in_effect == ("CPUExecutionProvider",):
        ((name, words),) = placement.not_loaded
        assert name == "CUDAExecutionProvider"
        assert "cu" in words
        assert "\x1b" not in words
        assert all("did not load" in (node.reason or "") for node in placement.nodes)
    else:
        assert placement.not_loaded == ()
