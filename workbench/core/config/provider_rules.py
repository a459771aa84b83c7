"""Refuse providers and options that exclude each other or the rest of the config."""

from __future__ import annotations

import re

from workbench.core.config.catalogue import catalogue, check_needs
from workbench.core.config.fields import ConfigFields
from workbench.core.config.option import ALLOW
from workbench.core.config.provider import UNTRIED, Provider
from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, listed, quoted

CUDA, DML = "CUDAExecutionProvider", "DmlExecutionProvider"
TENSORRT, RTX = "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider"
OPENVINO, QNN = "OpenVINOExecutionProvider", "QNNExecutionProvider"

EXCLUSIVE = (  # (provider, one option, another): two ways to say the same
    (QNN, "backend_type", "backend_path"),
    (OPENVINO, "device_type", "device_id"),
)
_OPENVINO_DEVICE = re.compile(r"(CPU|NPU|GPU(\.[0-9]+)?)|(AUTO|HETERO|MULTI)(:[A-Z0-9.,\-]+)?")


def check(config: ConfigFields) -> None:
    """Refuse the first setting that cannot work."""
    names = [provider.name for provider in config.providers]
    for provider in config.providers:
        if names.count(provider.name) > 1:
            raise ConfigError(
                f"{provider.name} is listed twice; ORT takes the first and drops the other.",
                "List each provider once.",
            )
        _check_names(provider, config.allow_unknown)
        _check_values(provider)
    if config.device_policy is not None and any(provider.library is None for provider in config.providers):
        raise ConfigError(
            "device_policy lets ORT choose, and with providers listed it does not.",
            "Leave providers empty, or list plugins with their library alone: ORT chooses from them.",
        )
    if TENSORRT in names and RTX in names:
        raise ConfigError("TensorRT and TensorRT-RTX exclude each other in one session.", "Keep one of them.")
    if DML in names:
        _check_directml(config)
    for provider in config.providers:
        if provider.name == CUDA and provider.option("enable_cuda_graph") == "1":
            _check_cuda_graph(config)


def _check_names(provider: Provider, allow_unknown: bool) -> None:
    known = [card.name for card in catalogue().providers]
    if provider.name not in known:
        if allow_unknown or provider.library is not None or provider.name in UNTRIED.values():
            return  # nothing is known of its options
        short = [card.alias for card in catalogue().providers]
        raise ConfigError(
            f"{quoted(provider.name)} is not a provider that we know; ORT would warn and use the CPU.",
            f"{did_you_mean(provider.name, [*short, *known])}Use one of {', '.join(short)}; for a "
            f"plugin, wb.Provider({quoted(provider.name)}, library='auto' or its file); {ALLOW}.",
        )
    given = dict(provider.session_options)
    for name in given:
        option = catalogue().find(provider.name, name)
        if option is not None:
            check_needs(option, given)
        elif not allow_unknown:
            options = [option.name for option in catalogue().options(provider.name)]
            what = f"Known: {', '.join(options)}. " if options else "It takes none; drop it. "
            raise ConfigError(
                f"{provider.name} has no option {quoted(name)}.",
                f"{did_you_mean(name, options) or what}Else correct it, {ALLOW}.",
            )


def _check_values(provider: Provider) -> None:
    for owner, first, second in EXCLUSIVE:
        if provider.name == owner and provider.option(first) and provider.option(second):
            raise ConfigError(f"{owner} got both {first} and {second}.", "Keep one of them.")
    if provider.name in (TENSORRT, RTX):
        _check_profile_shapes(provider, "trt" if provider.name == TENSORRT else "nv")
    device = provider.option("device_type")
    if provider.name == OPENVINO and device is not None and not _OPENVINO_DEVICE.fullmatch(device):
        raise ConfigError(
            f"{OPENVINO} option 'device_type' cannot be {quoted(device)}.",
            "Use CPU, GPU, GPU.0, NPU, or AUTO, HETERO or MULTI with devices: AUTO:GPU,CPU.",
        )


def _check_profile_shapes(provider: Provider, prefix: str) -> None:
    trio = [f"{prefix}_profile_{bound}_shapes" for bound in ("min", "opt", "max")]
    given = [name for name in trio if provider.option(name)]
    if given and len(given) < len(trio):
        raise ConfigError(
            f"{provider.name} got {listed(given)} without the rest.",
            f"Give all of {listed(trio)}, for the same inputs.",
        )


def _check_directml(config: ConfigFields) -> None:
    if config.memory_pattern:
        raise ConfigError(
            "DirectML cannot use memory patterns; ORT turns them off.", "Leave memory_pattern None or False."
        )
    _refuse_parallel(config, "DirectML runs one operator after another; ORT ignores the parallel mode.")


def _check_cuda_graph(config: ConfigFields) -> None:
    if not config.io_binding:
        raise ConfigError(
            "A CUDA graph replays the addresses that it was captured with, and io_binding is off.",
            "Set io_binding=True, or enable_cuda_graph=False.",
        )
    _refuse_parallel(config, "A CUDA graph is captured from one stream; the parallel mode breaks that.")


def _refuse_parallel(config: ConfigFields, problem: str) -> None:
    if config.execution_mode == "parallel":
        raise ConfigError(problem, "Leave execution_mode None or 'sequential'.")
