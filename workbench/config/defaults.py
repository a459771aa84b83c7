"""Settle what a precision leaves open for a processor, with the reason."""

from __future__ import annotations

from dataclasses import replace

from workbench.config.isa import REASONS, Family
from workbench.config.precision import DynamicInt8, StaticInt8


def dynamic_int8(asked: DynamicInt8, family: Family) -> tuple[DynamicInt8, str]:
    """Choose signed weights and a scale a tensor, which is fastest; 7 bits where the kernels saturate."""
    settled = replace(
        asked,
        weight=asked.weight or "int8",
        per_channel=False if asked.per_channel is None else asked.per_channel,
        reduce_range=family == "avx" if asked.reduce_range is None else asked.reduce_range,
    )
    return settled, REASONS[family] if settled != asked else ""


def static_int8(asked: StaticInt8, family: Family) -> tuple[StaticInt8, str]:
    """Choose unsigned activations and signed weights on x86, both signed on Arm; a scale for each channel."""
    activation = asked.activation or ("int8" if family == "arm" else "uint8")
    settled = replace(
        asked,
        activation=activation,
        weight=asked.weight or "int8",
        per_channel=True if asked.per_channel is None else asked.per_channel,
        reduce_range=family == "avx" if asked.reduce_range is None else asked.reduce_range,
    )
    return settled, REASONS[family] if settled != asked else ""
