"""Every finding of the catalogue that the rules were specified by is built, or says why it is none.

The keys are the catalogue's ids; those that need a GPU are built from recorded or hand-made explanations.
"""

from __future__ import annotations

import pytest

from docs.findings import NO_FINDINGS
from workbench.advisor.registry import rules

CATALOGUE: dict[str, tuple[str, ...] | str] = {
    # 1a Graph and fusion
    "skip-layer-norm-slow": ("skip-layer-norm-slow",),
    "pass-costs-time": ("pass-costs-time",),
    "level-below-all": ("level-below-all",),
    "nchwc-missed-channels": ("channels-miss-blocked-layout",),
    "conv1d-no-nchwc": ("one-dimensional-convolution",),
    "nchwc-hurts-large-kernel": ("layout-costs-more",),
    "reorder-sandwich": ("reorder-sandwich",),
    "gelu-not-fused": ("gelu-not-fused",),
    "layernorm-unfused": ("layer-norm-not-fused",),
    "conv-bn-unfused": ("conv-batch-norm-not-folded",),
    "hidden-output-blocks": ("extra-output-blocks-fusion",),
    "transformer-fusion-offered": ("attention-not-fused",),
    "einsum": ("einsum",),
    "pow-general": ("general-power",),
    "cast-ping-pong": ("cast-pairs",),
    "fp64-island": ("float64-island",),
    "transpose-tax": ("transposes",),
    "shape-arithmetic": ("shape-arithmetic",),
    "many-tiny-nodes": ("time-between-nodes",),
    "loop-per-item": ("loop-of-products",),
    # 1b Quantization
    "dynamic-int8-on-conv": ("dynamic-int8-convolutions",),
    "int8-opportunity-static": ("static-int8-opportunity",),
    "int8-opportunity-dynamic": ("dynamic-int8-opportunity",),
    "static-int8-on-transformer": ("static-int8-transformer",),
    "signed-activations": ("signed-activations",),
    "bias-behind-identity": ("bias-behind-identity",),
    "weight-only-wrong-regime": ("weight-only-many-rows",),
    "weight-only-opportunity": ("weight-only-opportunity",),
    "few-integer-kernels": ("few-integer-kernels",),
    "16-bit-activations": ("sixteen-bit-activations",),
    "accuracy_level float32": ("blocks-computed-in-float",),
    "no-vnni": ("int8-without-instructions",),
    "saturation-no-vnni": ("saturating-int8", "seven-bits-for-nothing", "outputs-far-from-float"),
    "outlier-layer": ("outliers-set-the-range", "sensitive-layer"),
    "qdq-around-cheap-op": ("quantized-cheap-operators",),
    # 1c Model flaws seen in the file
    "weights-are-inputs": ("weights-are-inputs",),
    "denormal-weights": ("denormal-weights",),
    "tied-weights-twice": ("weights-stored-twice",),
    "unused-initializers": ("unused-weights",),
    "weights-as-attributes": ("weights-as-attributes",),
    "logits-for-all": ("logits-of-every-position",),
    "no-kv-cache": ("no-key-value-cache",),
    # 1d Providers and data movement
    "provider-did-not-load": ("provider-did-not-load",),
    "cpu-first": ("cpu-listed-first",),
    "gpu-memcpy": ("copies-between-devices", "ort-left-nodes-on-the-cpu"),
    "fragmented-partitions": ("many-partitions",),
    "io-copies": ("copies-of-inputs",),
    "cudnn-search": ("convolution-search",),
    "tensor-core-layout": ("tensor-core-layout",),
    "trt-rebuild": ("engine-built-at-each-start",),
    "launch-bound": ("launch-bound",),
    "provider-loses-to-cpu": ("provider-loses-to-cpu",),
    # 1e Threads and scheduling
    "oversubscribed": ("too-many-threads", "ort-could-not-pin-threads"),
    "threads-past-knee": ("threads-past-the-knee",),
    "parallel-mode": ("parallel-chain",),
    "spinning-idle": ("spinning-while-idle",),
    # 1f Memory, load, measurement
    "arena-holds": ("arena-holds-memory",),
    "first-shape-small": ("larger-shapes-later",),
    "activation-peak": ("one-node-makes-the-peak", "scratch-memory"),
    "prepack-doubles": ("prepacking-doubles-weights",),
    "kSameAsRequested": ("arena-grows-as-requested",),
    "slow-load": ("slow-load",),
    "first-run-slow": ("slow-first-run",),
    "random inputs for value-dependent ops": ("random-values-decide",),
    "busy box": "a busy machine",
    "one-session A/B": "two sessions measured in one process",
    "profile-as-latency": "a profile taken for the latency",
    "denormal inputs": "inputs of zeros or denormal numbers",
    "batch of 1 measured, batch used": "a batch of 1 measured, a larger one used",
}
BEYOND = {  # rules that the catalogue does not have: accuracy, other flaws of files, other warnings
    *("one-scale-for-wide-channels", "random-calibration", "few-calibration-examples", "accuracy-lost"),
    *("weights-beyond-float16", "non-finite-weights"),
    *("ort-met-other-shapes", "ort-could-not-fold", "ort-warned"),
}


@pytest.mark.parametrize("finding", CATALOGUE)
def test_each_finding_of_the_catalogue_is_built_or_says_why_not(finding: str) -> None:
    built = CATALOGUE[finding]
    if isinstance(built, str):
        assert built in NO_FINDINGS
    else:
        assert set(built) <= {rule.id for rule in rules()}


def test_every_rule_is_in_the_table() -> None:
    built = {rule for rules in CATALOGUE.values() if not isinstance(rules, str) for rule in rules}
    assert built | BEYOND == {rule.id for rule in rules()}
