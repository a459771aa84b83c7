"""What ORT does to small models that we know, and to the light models of the onnx package."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.analysis.conftest import Explain
from tests.analysis.models import MODELS
from tests.models import tiny
from workbench.analysis.explanation import explain
from workbench.config import Config
from workbench.models import Model

LIGHT = ("light_squeezenet", "light_shufflenet", "light_resnet50", "light_inception_v2")


def _fates(explained: Explain, name: str) -> dict[str, str]:
    return {one.node: one.fate for one in explained(name).provenance.account.sources}


@pytest.mark.real
@pytest.mark.parametrize("name", [*MODELS, *LIGHT])
def test_everything_is_accounted_for(explained: Explain, name: str) -> None:
    told = explained(name)
    account = told.provenance.account
    assert [one.node for one in account.sources] == [node.key for node in told.source.nodes]
    assert [one.node for one in account.optimized] == [node.key for node in told.optimized.nodes]
    assert (told.provenance.unknown, told.provenance.untraced) == (0, 0)
    assert told.provenance.exact
    assert told.provenance.problem is None
    assert sum(Counter(one.fate for one in account.sources).values()) == len(told.source.nodes)


@pytest.mark.real
def test_a_gelu_is_fused_with_its_bias(explained: Explain) -> None:
    told = explained("gelu")
    by_node = {one.node: one for one in told.provenance.account.sources}
    into = {by_node[name].into for name in ("bias", "div", "erf", "plus", "times", "halve")}
    assert len(into) == 1
    assert by_node["erf"].fate == "fused"
    assert {"GeluFusionL2", "BiasGeluFusion"} & set(by_node["erf"].passes)
    assert by_node["nothing"].fate == "eliminated"
    assert by_node["nothing"].passes == ("EliminateIdentity",)
    assert by_node["matmul"].fate == by_node["relu"].fate == "kept"


@pytest.mark.real
def test_nodes_without_names_are_named_and_joined(explained: Explain) -> None:
    told = explained("gelu unnamed")
    assert all(node.name for node in told.source.nodes)
    assert [node.op_type for node in told.optimized.nodes] == [
        node.op_type for node in explained("gelu").optimized.nodes
    ]
    assert {provider for _, provider in told.placement.sources if provider} == {"CPUExecutionProvider"}


@pytest.mark.real
def test_a_convolution_swallows_what_stands_around_it(explained: Explain) -> None:
    account = explained("conv").provenance.account
    together = {frozenset(one.sources) for one in account.optimized}
    assert frozenset(("conv1", "norm1", "relu1")) in together
    assert frozenset(("conv2", "residual", "relu2")) in together
    assert all("relu3" not in found or "conv3" not in found for found in together)


@pytest.mark.real
def test_a_fusion_that_did_not_happen_is_named_with_its_reason(explained: Explain) -> None:
    found = {one.nodes: one for one in explained("conv").passes.missed}
    one = found["conv3", "relu3"]
    assert one.pattern == "conv + activation"
    assert (one.reason, one.reason_from) == ("conv3 has 2 readers", "the graph")
    assert ("conv1", "norm1") not in found


@pytest.mark.real
def test_bodies_are_part_of_the_account(explained: Explain) -> None:
    told = explained("branches")
    keys = [node.key for node in told.source.nodes]
    assert "choose/then_branch::work" in keys
    assert "choose/else_branch::work_0" in keys  # names are unique in the whole model
    choose = told.source.by_key["choose"]
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
    told = explained("gelu").passes
    levels = [one.level for one in told.fired]
    assert levels == sorted(levels)
    assert told.fired[0].name == "required"
    identity = next(one for one in told.fired if one.name == "EliminateIdentity")
    assert identity.change.removed == ("nothing",)
    assert identity.change.added == ()
    assert "required" not in told.names
    assert told.fired[-1].change.nodes_after == told.statistics.optimized_nodes
    assert {name for name, _ in told.tried} >= {"ConstantFolding", "NchwcTransformer", "AttentionFusion"}


@pytest.mark.real
def test_counts_add_up(explained: Explain) -> None:
    told = explained("light_resnet50")
    numbers = told.passes.statistics
    assert sum(one.before for one in numbers.ops) == numbers.source_nodes == len(told.source.nodes)
    assert sum(one.after for one in numbers.ops) == numbers.optimized_nodes == len(told.optimized.nodes)
    assert numbers.fused_nodes == sum(one.count for one in numbers.fusions)
    assert numbers.fusions[0].into == "com.microsoft.nchwc::Conv"


@pytest.mark.real
def test_quantized_parts_become_integer_kernels(explained: Explain) -> None:
    account = explained("duplicated").provenance.account
    fates = {one.node: one for one in account.sources}
    assert fates["add"].into == fates["quantize_sum"].into
    kinds = {one.node: one.op_type for one in account.optimized}
    assert kinds[fates["mul"].into[0]] == "com.microsoft::QLinearMul"


@pytest.mark.real
def test_what_ort_casts_in_between_is_no_source_s_work(explained: Explain) -> None:
    told = explained("half")
    inserted = [one for one in told.provenance.account.optimized if one.inserted]
    assert inserted
    assert {one.op_type for one in inserted} == {"Cast"}
    assert all(not one.sources for one in inserted)
    assert {one.node for one in told.placement.nodes if one.inserted} >= {one.node for one in inserted}


@pytest.mark.real
def test_a_call_is_what_its_body_computes(explained: Explain) -> None:
    told = explained("calls")
    into = {one.node: one.into for one in told.provenance.account.sources}
    assert len(into["first"]) == len(into["second"]) == 2
    assert not set(into["first"]) & set(into["second"])


@pytest.mark.real
def test_a_provider_without_its_libraries_is_explained(tmp_path: Path) -> None:
    path = tiny.save(MODELS["gelu"](), tmp_path)
    told = explain(Model(path, "gelu"), Config(providers=("cuda", "cpu"))).placement
    if told.in_effect == ("CPUExecutionProvider",):
        ((name, words),) = told.not_loaded
        assert name == "CUDAExecutionProvider"
        assert "cu" in words
        assert "\x1b" not in words
        assert all("did not load" in (one.reason or "") for one in told.nodes)
    else:
        assert told.not_loaded == ()
