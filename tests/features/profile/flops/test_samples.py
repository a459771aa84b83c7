"""Every operator of the samples has a formula: as exported, and whatever ORT makes of it at each level."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import onnx
import onnxruntime as ort
import pytest
from onnx import ModelProto

from sample_models import SKELETONS
from sample_models import TRAINED as FOLDER
from sample_models.packed_weights import write_trained
from sample_models.rehydrate import rehydrate
from workbench.core.models.structure import read_structure
from workbench.features.explain.weightless import write_weightless
from workbench.features.profile.flops.counting import STANDARD, WITH_BODIES
from workbench.features.profile.flops.products import KNOWN, PRODUCTS

COUNTED = frozenset((*PRODUCTS, *WITH_BODIES, *KNOWN))  # bodies of control flow are counted node by node
LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL")
NAMES = sorted(path.name.removesuffix(".onnx.xz") for path in SKELETONS.iterdir())
TRAINED = sorted(path.name.removesuffix(".onnx.xz") for path in FOLDER.glob("*.onnx.xz"))
QUICK = {"mobilenetv2", "efficientnet-b0-dynamo", "yolov5s", *TRAINED}
# what ORT's passes, its quantizer and its transformer optimizer make
CONTRIB = [
    "Attention",
    "BiasDropout",
    "BiasGelu",
    "BiasSoftmax",
    "BiasSplitGelu",
    "DynamicQuantizeLSTM",
    "DynamicQuantizeMatMul",
    "EmbedLayerNormalization",
    "FastGelu",
    "FusedConv",
    "FusedGemm",
    "FusedMatMul",
    "FusedMatMulActivation",
    "GatherBlockQuantized",
    "Gelu",
    "GemmFastGelu",
    "GroupNorm",
    "GroupQueryAttention",
    "MatMulBnb4",
    "MatMulIntegerToFloat",
    "MatMulNBits",
    "MultiHeadAttention",
    "NhwcFusedConv",
    "NhwcMaxPool",
    "QAttention",
    "QEmbedLayerNormalization",
    "QGemm",
    "QLinearAdd",
    "QLinearAveragePool",
    "QLinearConcat",
    "QLinearGlobalAveragePool",
    "QLinearLeakyRelu",
    "QLinearMul",
    "QLinearReduceMean",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QLinearWhere",
    "QuickGelu",
    "RotaryEmbedding",
    "SimplifiedLayerNormalization",
    "SkipGroupNorm",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "TransposeMatMul",
]
# operators of quantized models
QUANTIZED = [
    "ConvInteger",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
]


def has_formula(op_type: str, domain: str = "") -> bool:
    return domain in STANDARD and op_type in COUNTED


def model_file(name: str, folder: Path) -> Path:
    home, write = (FOLDER, write_trained) if name in TRAINED else (SKELETONS, rehydrate)
    return write((home / f"{name}.onnx.xz").read_bytes(), folder / f"{name}.onnx")[0]


def optimized(weightless: Path, level: str, folder: Path) -> ModelProto:
    """ORT's graph; its weights are holes and go nowhere."""
    (folder / "nowhere").unlink(missing_ok=True)
    (folder / "nowhere").symlink_to(os.devnull)
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.log_severity_level = 4
    entry = "session.optimized_model_external_initializers"
    options.add_session_config_entry(f"{entry}_file_name", "nowhere")
    options.add_session_config_entry(f"{entry}_min_size_in_bytes", "1024")
    options.add_session_config_entry("session.disable_prepacking", "1")
    ort.InferenceSession(str(weightless), options, providers=["CPUExecutionProvider"])
    return onnx.load(folder / "optimized.onnx", load_external_data=False)


def without_formula(graphs: Iterable[onnx.GraphProto]) -> set[str]:
    missing: set[str] = set()
    for graph in graphs:
        for node in graph.node:
            if not has_formula(node.op_type, node.domain):
                missing.add(f"{node.domain}::{node.op_type}")
            missing |= without_formula(part.g for part in node.attribute if part.HasField("g"))
    return missing


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.release) for name in (*NAMES, *TRAINED)],
)
def test_no_operator_of_a_sample_is_without_a_formula(name: str, tmp_path: Path) -> None:
    path = model_file(name, tmp_path)
    model = read_structure(path)
    assert without_formula([model.graph]) == set()
    weightless = write_weightless(model, path, tmp_path)
    for level in LEVELS:
        assert without_formula([optimized(weightless, level, tmp_path).graph]) == set(), level


@pytest.mark.parametrize("op_type", CONTRIB)
def test_fused_operators_have_a_formula(op_type: str) -> None:
    assert has_formula(op_type, "com.microsoft")


@pytest.mark.parametrize("op_type", QUANTIZED)
def test_quantized_operators_have_a_formula(op_type: str) -> None:
    assert has_formula(op_type)


def test_what_has_none_is_said_to_have_none() -> None:
    assert not has_formula("NonMaxSuppression")
    assert not has_formula("Conv", "my.domain")
