"""A model repository of Triton: config.pbtxt with what its ONNX Runtime backend can express."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.core.config import Config
from workbench.core.config.plan import ON_NVIDIA, session_plan
from workbench.core.config.provider import CPU
from workbench.core.config.runtime import name_of
from workbench.features.deploy.contract import BYTES, Contract, IoTensor

_LEVELS = {
    "all": None,
    None: None,
    "extended": 1,
    "basic": -1,
    "disabled": 2,
}  # of `optimization.graph.level`
_PARAMETERS = {  # of the config: the backend's parameter
    "intra_op_threads": "intra_op_thread_count",
    "inter_op_threads": "inter_op_thread_count",
    "cpu_arena": "enable_mem_arena",
    "memory_pattern": "enable_mem_pattern",
}
_ENTRIES = ("session.use_device_allocator_for_initializers", "memory.enable_memory_arena_shrinkage")
_ACCELERATORS = {"TensorrtExecutionProvider": "tensorrt", "CUDAExecutionProvider": "cuda"}
_TENSORRT = {  # options that the backend calls by another name
    "trt_max_workspace_size": "max_workspace_size_bytes",
    "trt_int8_calibration_table_name": "int8_calibration_table_name",
    "trt_int8_use_native_calibration_table": "int8_use_native_calibration_table",
}
_MAX_BATCH = 8  # rows of one run, where the first dimension is free
_PRECISIONS = {"trt_fp16_enable": "FP16", "trt_int8_enable": "INT8"}


def config_text(
    name: str, config: Config, contract: Contract, examples: dict[str, Any], *, instances: int
) -> str:
    """Return config.pbtxt."""
    batched = contract.batchable
    on_gpu = any(provider.name in ON_NVIDIA for provider in config.providers)
    sides = [("input", tensor) for tensor in contract.inputs]
    sides += [("output", tensor) for tensor in contract.outputs]
    lines = [
        f"name: {_text(name)}",
        'backend: "onnxruntime"',
        'default_model_filename: "model.onnx"',
        f"max_batch_size: {_MAX_BATCH if batched else 0}",
        *(f"{side} {{ {_declared(tensor, batched=batched)} }}" for side, tensor in sides),
        f"instance_group {{ count: {instances} kind: {'KIND_GPU' if on_gpu else 'KIND_CPU'} }}",
        *(["dynamic_batching { }"] if batched else []),
        *_optimization(config),
        *_parameters(config),
        _warm_up(contract, examples, batched=batched),
    ]
    return "".join(f"{line}\n" for line in lines)


def _declared(tensor: IoTensor, *, batched: bool) -> str:
    dims = tensor.shape[1:] if batched else tensor.shape
    reshape = "" if dims else " reshape: { shape: [ ] }"
    return f"name: {_text(tensor.name)} data_type: {_type(tensor)} {_dims(dims)}{reshape}"


def _dims(dims: tuple[int, ...]) -> str:
    return f"dims: [ {', '.join(map(str, dims or (1,)))} ]"


def _type(tensor: IoTensor) -> str:
    return "TYPE_STRING" if tensor.datatype == BYTES else f"TYPE_{tensor.datatype}"


def _optimization(config: Config) -> Iterator[str]:
    level = _LEVELS.get(config.level)
    accelerators = [
        f"gpu_execution_accelerator {{ name: {_text(_ACCELERATORS[provider.name])} "
        + " ".join(_accelerator_options(provider.name, dict(provider.options)))
        + " }"
        for provider in config.providers
        if provider.name in _ACCELERATORS
    ]
    if any(provider.name == "OpenVINOExecutionProvider" for provider in config.providers):
        accelerators.append('cpu_execution_accelerator { name: "openvino" }')
    if level is None and not accelerators:
        return
    graph = "" if level is None else f" graph {{ level: {level} }}"
    executing = f" execution_accelerators {{ {' '.join(accelerators)} }}" if accelerators else ""
    yield f"optimization {{{graph}{executing} }}"


def _accelerator_options(provider: str, options: dict[str, str]) -> Iterator[str]:
    for key, value in options.items():
        if key in _PRECISIONS:
            if value.lower() in ("1", "true"):
                yield f'parameters {{ key: "precision_mode" value: {_text(_PRECISIONS[key])} }}'
        else:
            named = _TENSORRT.get(key, key) if provider.startswith("Tensorrt") else key
            yield f"parameters {{ key: {_text(named)} value: {_text(value)} }}"


def _parameters(config: Config) -> Iterator[str]:
    for field, parameter in _PARAMETERS.items():
        value = getattr(config, field)
        if value is not None:
            yield _parameter(parameter, str(int(value)))
    if config.execution_mode is not None:
        yield _parameter("execution_mode", "1" if config.execution_mode == "parallel" else "0")
    plan = session_plan(config)
    for key, text in (*plan.entries, *plan.run_entries):
        if key in _ENTRIES:
            yield _parameter(key, text)


def _parameter(key: str, value: str) -> str:
    return f"parameters {{ key: {_text(key)} value: {{ string_value: {_text(value)} }} }}"


def _warm_up(contract: Contract, examples: dict[str, Any], *, batched: bool) -> str:
    inputs = []
    for tensor in contract.inputs:
        sizes = examples[tensor.name].shape[1:] if batched else examples[tensor.name].shape
        value = f"data_type: {_type(tensor)} {_dims(sizes)} zero_data: true"
        inputs.append(f"inputs {{ key: {_text(tensor.name)} value: {{ {value} }} }}")
    return f'model_warmup {{ name: "zeros" batch_size: {1 if batched else 0} {" ".join(inputs)} }}'


def not_expressed(config: Config) -> Iterator[str]:
    """Yield what Triton's backend has no word for, each with its value."""
    if config.level not in _LEVELS:
        yield f'level="{config.level}": the backend knows basic, extended, all and disabled'
    if config.custom_ops:
        yield (
            f"custom_ops={', '.join(Path(library).name for library in config.custom_ops)}: copy them to the "
            "server, and name their paths there in model_operations { op_library_filename }"
        )
    if config.runtime:
        yield f"runtime={name_of(config.runtime)}: the backend has its own ONNX Runtime"
    if config.disabled_passes:
        yield f"disabled_passes={', '.join(config.disabled_passes)}"
    changed = config.changed()
    for field in ("device_policy", "memory_reuse", "deterministic", "free_dimensions", "io_binding"):
        if field in changed:
            value = changed[field]
            yield f"{field}={value!r}" if field != "io_binding" else "io_binding: the backend binds by itself"
    plan = session_plan(config)
    for key, text in (*plan.entries, *plan.run_entries):
        if key not in _ENTRIES:
            yield f"{key}={text}"
    for provider in config.providers:
        if provider.name not in (*_ACCELERATORS, "OpenVINOExecutionProvider", CPU):
            yield f"the provider {provider.name}"
        if provider.name in ("OpenVINOExecutionProvider", CPU) and provider.options:
            yield f"options of {provider.name}: " + ", ".join(
                f"{key}={value}" for key, value in provider.options
            )


def _text(value: str) -> str:
    """Return a text literal of protobuf's text format."""
    letters = []
    for letter in value:
        if letter in '"\\':
            letters.append(f"\\{letter}")
        elif " " <= letter <= "~":
            letters.append(letter)
        else:
            letters += [f"\\{byte:03o}" for byte in letter.encode("utf-8", "replace")]
    return f'"{"".join(letters)}"'
