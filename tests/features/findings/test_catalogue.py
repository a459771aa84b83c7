"""Every finding of the catalogue that the rules were specified by is built, or says why it is none.

The keys are the catalogue's ids; those that need a GPU are built from recorded or hand-made explanations.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType

import pytest

from docs.findings import NO_FINDINGS
from workbench.features.findings.rule import rules

# Of each finding the rules that are built, and the options, rewrites and settings of an exporter that their
# fixes offer; or why it is no finding.
CATALOGUE: dict[str, tuple[str, str] | str] = {
    # 1a Graph and fusion
    "skip-layer-norm-slow": ("skip-layer-norm-slow", "disabled_passes SkipLayerNormFusion"),
    "pass-costs-time": ("pass-costs-time", "disabled_passes"),
    "level-below-all": ("level-below-all", "level"),
    "nchwc-missed-channels": ("channels-miss-blocked-layout", "channels-padded"),
    "conv1d-no-nchwc": ("one-dimensional-convolution", "conv1d-to-2d"),
    "nchwc-hurts-large-kernel": ("layout-costs-more", "disabled_passes NchwcTransformer"),
    "reorder-sandwich": ("reorder-sandwich", 'padding_mode="zeros"'),
    "gelu-not-fused": ("gelu-not-fused", "gelu-to-one-node opset_version=20"),
    "layernorm-unfused": ("layer-norm-not-fused", "layer-norm-to-one-node SkipLayerNormFusion"),
    "conv-bn-unfused": ("conv-batch-norm-not-folded", "batch-norm-folded"),
    "hidden-output-blocks": ("extra-output-blocks-fusion", "output_hidden_states"),
    "transformer-fusion-offered": ("attention-not-fused", "fusion TransformerFusion"),
    "einsum": ("einsum", "einsum-spelled-out"),
    "pow-general": ("general-power", "power-spelled-out"),
    "cast-ping-pong": ("cast-pairs", "autocast"),
    "fp64-island": ("float64-island", "model.float()"),
    "transpose-tax": ("transposes", "--inputs-as-nchw"),
    "shape-arithmetic": ("shape-arithmetic", "free_dimensions SkipLayerNormFusion"),
    "many-tiny-nodes": ("time-between-nodes", "intra_op_threads"),
    "loop-per-item": ("loop-of-products", "loop-to-product"),
    # 1b Quantization
    "dynamic-int8-on-conv": ("dynamic-int8-convolutions", "precision StaticInt8"),
    "int8-opportunity-static": ("static-int8-opportunity", "precision StaticInt8"),
    "int8-opportunity-dynamic": ("dynamic-int8-opportunity", "precision DynamicInt8 SkipLayerNormFusion"),
    "static-int8-on-transformer": ("static-int8-transformer", "precision DynamicInt8"),
    "signed-activations": ("signed-activations", "precision activation"),
    "bias-behind-identity": ("bias-behind-identity", "onnxruntime.quantization.preprocess"),
    "weight-only-wrong-regime": ("weight-only-many-rows", "precision"),
    "weight-only-opportunity": ("weight-only-opportunity", "precision WeightOnly bits"),
    "few-integer-kernels": ("few-integer-kernels", "precision"),
    "16-bit-activations": ("sixteen-bit-activations", "precision activation"),
    "accuracy_level float32": ("blocks-computed-in-float", "precision accuracy_level"),
    "no-vnni": ("int8-without-instructions", "precision"),
    "saturation-no-vnni": (
        "saturating-int8 seven-bits-for-nothing outputs-far-from-float",
        "precision reduce_range",
    ),
    "outlier-layer": ("outliers-set-the-range sensitive-layer", "calibrator percentile wb.exclude_for"),
    "qdq-around-cheap-op": ("quantized-cheap-operators", "precision op_types"),
    # 1c Model flaws seen in the file
    "weights-are-inputs": ("weights-are-inputs", "weights-out-of-inputs keep_initializers_as_inputs=False"),
    "denormal-weights": ("denormal-weights", "denormals-to-zero session.set_denormal_as_zero"),
    "tied-weights-twice": ("weights-stored-twice", "duplicated-weights-shared dynamo=True"),
    "unused-initializers": ("unused-weights", "unused-weights-removed"),
    "weights-as-attributes": ("weights-as-attributes", "constants-to-initializers"),
    "logits-for-all": ("logits-of-every-position", "logits-of-last-position"),
    "no-kv-cache": ("no-key-value-cache", "text-generation-with-past"),
    # 1d Providers and data movement
    "provider-did-not-load": ("provider-did-not-load", "wb.doctor()"),
    "cpu-first": ("cpu-listed-first", "providers"),
    "gpu-memcpy": ("copies-between-devices ort-left-nodes-on-the-cpu", "rewrite"),
    "fragmented-partitions": ("many-partitions", "reflect-pad-spelled-out trt_min_subgraph_size"),
    "io-copies": ("copies-of-inputs", "io_binding"),
    "cudnn-search": ("convolution-search", "cudnn_conv_algo_search HEURISTIC cudnn_conv1d_pad_to_nc1d"),
    "tensor-core-layout": ("tensor-core-layout", "prefer_nhwc"),
    "trt-rebuild": (
        "engine-built-at-each-start engine-without-profiles",
        "trt_engine_cache_enable trt_timing_cache_enable "
        "trt_profile_min_shapes trt_profile_opt_shapes trt_profile_max_shapes",
    ),
    "launch-bound": ("launch-bound", "enable_cuda_graph io_binding"),
    "provider-loses-to-cpu": ("provider-loses-to-cpu", "providers"),
    # 1e Threads and scheduling
    "oversubscribed": ("too-many-threads ort-could-not-pin-threads", "intra_op_threads"),
    "threads-past-knee": ("threads-past-the-knee", "intra_op_threads"),
    "parallel-mode": ("parallel-chain", "execution_mode"),
    "spinning-idle": ("spinning-while-idle", "spinning session.intra_op.spin_duration_us"),
    # 1f Memory, load, measurement
    "arena-holds": ("arena-holds-memory", "cpu_arena"),
    "first-shape-small": ("larger-shapes-later", "session.run"),
    "activation-peak": ("one-node-makes-the-peak scratch-memory", "smaller"),
    "prepack-doubles": (
        "prepacking-doubles-weights",
        "session.disable_prepacking saved_graph session.save_external_prepacked_constant_initializers",
    ),
    "kSameAsRequested": (
        "arena-grows-as-requested",
        "arena_extend_strategy gpu_mem_limit cudnn_conv_algo_search",
    ),
    "slow-load": ("slow-load", "saved_graph"),
    "first-run-slow": ("slow-first-run", "session.run"),
    "random inputs for value-dependent ops": ("random-values-decide", "inputs='examples.npz'"),
    "busy box": "a busy machine",
    "one-session A/B": "two sessions measured in one process",
    "profile-as-latency": "a profile taken for the latency",
    "denormal inputs": "inputs of zeros or denormal numbers",
    "batch of 1 measured, batch used": "a batch of 1 measured, a larger one used",
}
PACKAGE = "workbench.features.findings"
BEYOND = {  # rules that the catalogue does not have: accuracy, other flaws of files, other warnings
    *("one-scale-for-wide-channels", "random-calibration", "few-calibration-examples", "accuracy-lost"),
    *("float-zero-points", "non-finite-weights", "channels-lost-in-a-common-scale"),
    *("quantized-layers-in-float", "ort-met-other-shapes", "ort-could-not-fold", "ort-warned"),
    "far-below-its-roof",
}


@pytest.mark.parametrize("finding", CATALOGUE)
def test_each_finding_of_the_catalogue_is_built_or_says_why_not(finding: str) -> None:
    built = CATALOGUE[finding]
    if isinstance(built, str):
        assert built in NO_FINDINGS
    else:
        assert set(built[0].split()) <= {rule.id for rule in rules()}


@pytest.mark.parametrize("finding", [name for name, built in CATALOGUE.items() if not isinstance(built, str)])
def test_the_rules_of_a_finding_offer_its_whole_fix(finding: str) -> None:
    ids, options = CATALOGUE[finding]
    texts = [text for rule in rules() if rule.id in ids.split() for text in texts_of(rule.find)]
    assert [option for option in options.split() if not any(option in text for text in texts)] == []


def test_a_fix_that_no_rule_offers_is_missed() -> None:
    texts = list(texts_of(next(rule.find for rule in rules() if rule.id == "copies-of-inputs")))
    assert any("io_binding" in text for text in texts)
    assert not any("prefer_nhwc" in text for text in texts)


def test_every_rule_is_in_the_table() -> None:
    built = {rule for entry in CATALOGUE.values() if not isinstance(entry, str) for rule in entry[0].split()}
    assert built | BEYOND == {rule.id for rule in rules()}


def texts_of(function: FunctionType, read: set[FunctionType] | None = None) -> Iterator[str]:
    """Yield the texts and the keywords in the code of a rule, its helpers and its constants."""
    read = set() if read is None else read
    read.add(function)
    codes = [function.__code__]
    for code in codes:
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        documentation = function.__doc__
        yield from (str(constant) for constant in code.co_consts if constant != documentation)
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, str | tuple):
                yield str(value)
            elif isinstance(value, type):
                yield name
            elif isinstance(value, FunctionType) and value.__module__.startswith(PACKAGE):
                yield from () if value in read else texts_of(value, read)
