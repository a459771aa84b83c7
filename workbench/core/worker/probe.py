"""Job of the doctor: describe this ORT, or try one provider. One process per probe."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

import numpy as np
import onnxruntime as ort
from packaging.requirements import Requirement  # onnxruntime depends on it

from workbench.core.plugin_packages import plugin_packages
from workbench.core.worker.plugins import devices_of, offered_by
from workbench.core.worker.session import session_options

# y = MatMul(x, x) with x of 4 by 4, IR 8, opset 17: an operator of every provider. As bytes, because
# the worker's interpreter may lack onnx.
SQUARE = base64.b64decode(
    "CAg6TAoZCgF4CgF4EgF5GgZzcXVhcmUiBk1hdE11bBIFcHJvYmVaEwoBeBIOCgwIARIICgIIBAoCCARiEwoBeRIOCgwIARIICgIIBAoCCARC"
    "BAoAEBE="
)

GPU_BUILD = "onnxruntime-gpu"
_MAJOR = re.compile(r"-cu(\d+)$")  # of CUDA, in the name of a package


def run(
    provider: str | None = None, plugin: str | None = None, plan: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Describe this ORT, a session that asks for a provider, or the devices of a plugin or of a plan."""
    if plan is not None:
        return {"devices": devices_of(plan)}
    if plugin is not None:
        return {"devices": offered_by(plugin)}
    return _about() if provider is None else _try(provider)


def _about() -> dict[str, Any]:
    packages = [item for item in metadata.distributions() if _is_named(item)]
    installed = {item.name.lower(): item.version for item in packages}
    return {
        "version": ort.__version__,
        "build": ort.get_build_info(),
        "distributions": sorted(
            {
                f"{item.name} {item.version}"
                for item in packages
                if item.name.lower().replace("_", "-").startswith(("onnxruntime", "ort-"))
                and item.name.lower() != "ort-workbench"
            }
        ),
        "cuda": mismatched(metadata.requires(GPU_BUILD) or () if GPU_BUILD in installed else (), installed),
        "plugins": [[package.module, package.requirement, *package.vendors] for package in plugin_packages()],
        "available": ort.get_available_providers(),
        "devices": [
            [device.ep_name, device.device.type.name, device.device.vendor]
            for device in getattr(ort, "get_ep_devices", list)()  # older versions list none
        ],
    }


def _is_named(item: metadata.Distribution) -> bool:
    """Return whether a package names itself; an interrupted installation leaves a folder that does not."""
    return any(map(item.read_text, ("METADATA", "PKG-INFO", ""))) and bool(item.name)


def mismatched(requires: Iterable[str], installed: Mapping[str, str]) -> list[list[str]]:
    """Return what a build asks of CUDA's packages and does not get: [requirement, what is installed]."""
    asked = map(Requirement, requires)
    wanted = {item.name: item.specifier for item in asked if item.name.startswith("nvidia-")}
    majors = {match[1] for name in wanted if (match := _MAJOR.search(name))}
    wrong = []
    for name, version in sorted(installed.items()):
        major = _MAJOR.search(name)
        if name in wanted and version not in wanted[name]:
            wrong.append([f"{name}{wanted[name]}", f"{name} {version}"])
        elif majors and major and name.startswith("nvidia-") and major[1] not in majors:
            wrong.append([f"CUDA {'.'.join(sorted(majors))}", f"{name} {version}"])
    return wrong


def _try(provider: str) -> dict[str, Any]:
    plan: dict[str, Any] = {"attributes": {}, "entries": {}, "free_dimensions": {}}
    if provider.startswith(("CUDA", "Tensorrt", "NvTensor")):
        ort.preload_dlls()
    # from bytes: a crash of the provider would leave a file behind
    session = ort.InferenceSession(SQUARE, session_options(plan), providers=[provider])
    value = np.arange(16, dtype=np.float32).reshape(4, 4) / 16
    (answer,) = session.run(None, {"x": value})
    return {
        "in_effect": session.get_providers(),
        "correct": bool(np.allclose(answer, value @ value, rtol=1e-2)),  # for the rounding of TF32 and fp16
    }
