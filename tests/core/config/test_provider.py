"""Providers: names in all spellings, options in the words of each provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.config import Provider
from workbench.core.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "full", "short"),
    [
        ("cpu", "CPUExecutionProvider", "cpu"),
        ("CUDA", "CUDAExecutionProvider", "cuda"),
        ("cudaexecutionprovider", "CUDAExecutionProvider", "cuda"),
        ("trt", "TensorrtExecutionProvider", "tensorrt"),
        ("tensorrt-rtx", "NvTensorRTRTXExecutionProvider", "tensorrt-rtx"),
        ("directml", "DmlExecutionProvider", "dml"),
        (" nnapi ", "NnapiExecutionProvider", "nnapi"),
        ("MIGraphXExecutionProvider", "MIGraphXExecutionProvider", "migraphx"),
        ("OtherExecutionProvider", "OtherExecutionProvider", "OtherExecutionProvider"),
    ],
)
def test_names(given: str, full: str, short: str) -> None:
    assert Provider(given).name == full
    assert Provider(given).short_name == short


@pytest.mark.parametrize(
    ("provider", "option", "value", "text"),
    [
        ("cuda", "use_tf32", False, "0"),
        ("cuda", "use_tf32", "True", "1"),
        ("cuda", "device_id", 1, "1"),
        ("cuda", "device_id", "01", "1"),
        ("cuda", "gpu_mem_limit", 2 * 1024**3, "2147483648"),
        ("tensorrt", "trt_fp16_enable", True, "True"),
        ("tensorrt", "trt_fp16_enable", 0, "False"),
        ("tensorrt", "trt_engine_cache_path", Path("cache"), "cache"),
        ("openvino", "enable_qdq_optimizer", 1, "true"),
        ("coreml", "RequireStaticInputShapes", "on", "1"),
        ("dml", "disable_metacommands", True, "True"),
        ("OtherExecutionProvider", "anything", True, "1"),
    ],
)
def test_values_are_written_as_the_provider_reads_them(
    provider: str, option: str, value: object, text: str
) -> None:
    assert Provider(provider, {option: value}).option(option) == text


def test_options_come_as_a_dict_as_keywords_or_as_pairs() -> None:
    wanted = (("device_id", "1"), ("use_tf32", "0"))
    assert Provider("cuda", {"use_tf32": 0, "device_id": 1}).options == wanted
    assert Provider("cuda", use_tf32=False, device_id=1).options == wanted
    assert Provider("cuda", [("use_tf32", 0)], device_id=1).options == wanted
    assert Provider("cuda").option("device_id") is None


@pytest.mark.parametrize(
    ("name", "options", "problem", "fix"),
    [
        ("cuda", {"device_id": -1}, "'-1'", "from 0"),
        ("cuda", {"device_id": 0.5}, "'0.5'", "whole number"),
        ("cuda", {"gpu_mem_limit": 0}, "'0'", "from 1"),
        ("cuda", {"arena_extend_strategy": "kSameAsRequest"}, "'kSameAsRequest'", "'kSameAsRequested'"),
        ("cuda", {"use_tf32": "2"}, "'2'", "True or False"),
        ("cuda", {"user_compute_stream": "140237"}, "memory address", "Leave it out"),
        ("tensorrt", {"trt_builder_optimization_level": 6}, "'6'", "up to 5"),
        ("tensorrt", {"trt_engine_cache_path": "a\0b"}, "a\\x00b", "without these"),
        ("Other", {"a\0b": 1}, "a\\x00b", "without these"),
        ("cuda", {"device_id": 10**5000}, "too large to show", "64 bits"),
        ("openvino", {"load_config": "{"}, "'{'", "JSON"),
        ("openvino", {"load_config": "[" * 100_000}, "100,000 characters", "JSON"),
        ("nnapi", {"NNAPI_FLAG_USE_FP16": True}, "cannot be set here", "Python cannot"),
        ("cuda", {"device_id": None}, "None", "number"),
        ("cuda", {7: 1}, "7", "texts"),
        ("cuda", "device_id=1", "'device_id=1'", "dict"),
        ("cuda", [("device_id", 1), ("device_id", 2)], "twice", "once"),
        ("", {}, "''", "cuda"),
        ("a\nb", {}, "a\\nb", "cuda"),
        (None, {}, "None", "cuda"),
        ("Other", {"x": "y" * (1 << 21)}, "2,097,152 characters", "at most"),
    ],
)
def test_refused(name: object, options: object, problem: str, fix: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Provider(name, options)  # type: ignore[arg-type]
    assert problem in caught.value.problem
    assert fix in caught.value.fix


def test_an_option_given_both_ways_is_refused() -> None:
    with pytest.raises(ConfigError, match="twice"):
        Provider("cuda", {"device_id": 1}, device_id=2)
