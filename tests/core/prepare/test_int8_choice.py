"""The form of int8 that suits each shipped architecture."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.core.prepare.int8 import suited_int8

SLOW = pytest.mark.slow  # large files; the small ones of the same architectures are chosen for in each run
WITHOUT_CONV = wb.DynamicInt8(op_types=("Gemm", "LSTM", "MatMul"))


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("digits-conv", wb.StaticInt8()),
        pytest.param("resnet50", wb.StaticInt8(), marks=SLOW),
        ("yolov5s", wb.StaticInt8()),
        ("char-gpt", wb.DynamicInt8()),
        pytest.param("bert-base", wb.DynamicInt8(), marks=SLOW),
        ("digits-vit", WITHOUT_CONV),
        pytest.param("vit-base", WITHOUT_CONV, marks=SLOW),
        pytest.param("whisper-small-encoder", WITHOUT_CONV, marks=SLOW),
    ],
)
def test_static_for_convolutional_nets_and_dynamic_for_transformers(name: str, precision: object) -> None:
    assert suited_int8(wb.load(name)) == precision
