"""The form of int8 that suits each shipped architecture."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.preparation.int8_choice import suited_int8

WITHOUT_CONV = wb.DynamicInt8(op_types=("Gemm", "LSTM", "MatMul"))


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("digits-conv", wb.StaticInt8()),
        ("resnet50", wb.StaticInt8()),
        ("yolov5s", wb.StaticInt8()),
        ("char-gpt", wb.DynamicInt8()),
        ("bert-base", wb.DynamicInt8()),
        ("digits-vit", WITHOUT_CONV),
        ("vit-base", WITHOUT_CONV),
        ("whisper-small-encoder", WITHOUT_CONV),
    ],
)
def test_static_for_convolutional_nets_and_dynamic_for_transformers(name: str, precision: object) -> None:
    assert suited_int8(wb.load(name)) == precision
