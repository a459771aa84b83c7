"""BERT, GPT-2, ViT and ResNet as both of torch's exporters write them: everything is accounted for.

The structure is the real one; the weights are holes in a file, which ORT reads as zeros.
"""

from __future__ import annotations

import lzma
import tempfile
from functools import cache
from pathlib import Path

import onnx
import pytest

import sample_models
from workbench.core.config import Config
from workbench.core.models import Model
from workbench.core.models.structure import tensors
from workbench.features.explain.explanation import Explained, explain
from workbench.features.explain.weightless import write_weightless

SKELETONS = Path(sample_models.__file__).parent / "skeletons"
QUICK = ("resnet50-dynamo",)
SLOW = ("distilbert", "gpt2", "efficientnet-b0")
MORE = ("bert-base", "bert-base-dynamo", "gpt2-dynamo", "vit-base", "resnet50")
UNKNOWN, UNTRACED = 0.005, 0.005  # of all nodes, at most

pytestmark = pytest.mark.real


def hollow(name: str, folder: Path) -> Path:
    """A sample with holes for weights."""
    proto = onnx.ModelProto.FromString(lzma.decompress((SKELETONS / f"{name}.onnx.xz").read_bytes()))
    for tensor in tensors(proto):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return write_weightless(proto, SKELETONS, folder)


@cache
def explanation_of(name: str) -> Explained:
    with tempfile.TemporaryDirectory() as folder:
        return explain(Model(hollow(name, Path(folder)), name), Config())


@pytest.mark.parametrize(
    "name",
    [
        *QUICK,
        *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW),
        *(pytest.param(name, marks=pytest.mark.release) for name in MORE),
    ],
)
def test_every_node_is_accounted_for(name: str) -> None:
    explanation = explanation_of(name)
    account = explanation.provenance.account
    assert [source.node for source in account.sources] == [node.key for node in explanation.source.nodes]
    assert [target.node for target in account.optimized] == [node.key for node in explanation.optimized.nodes]
    assert explanation.provenance.unknown <= UNKNOWN * len(account.sources)
    assert explanation.provenance.untraced <= UNTRACED * len(account.optimized)
    assert explanation.provenance.exact or explanation.provenance.problem is not None
    assert explanation.placement.partitions == 1
    assert {node.provider for node in explanation.placement.nodes} == {"CPUExecutionProvider"}


@pytest.mark.slow
def test_what_is_expected_and_missing_says_why() -> None:
    for place in explanation_of("distilbert").passes.missed:
        assert place.reason
        assert place.reason_from in ("ORT", "the graph", "the config")
