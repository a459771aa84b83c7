"""Plugin execution providers: each is registered once in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnxruntime as ort

from workbench.core.errors import RunFailed
from workbench.core.plugin_packages import plugin_packages


def register_plugins(plugins: dict[str, str]) -> None:
    """Register the library of each provider, or with "auto" the installed one that offers it."""
    for provider, library in plugins.items():
        try:
            _register(provider, library)
        except Exception as error:
            raise RunFailed(
                f"the plugin of {provider} cannot be used with ONNX Runtime {ort.__version__}: "
                f"{str(error)[:600]}",
                "name the provider as its devices do, and a file that was built for this version: "
                "wb.Provider(name, library=path); `workbench doctor` lists the plugins that are installed",
            ) from error


def offered_by(module: str) -> list[str]:
    """Return the devices of an installed plugin in words; none if it has none here."""
    package = next(package for package in plugin_packages() if package.module == module)
    before = _offered()
    ort.register_execution_provider_library(module, package.library())
    return [_described(device) for device in ort.get_ep_devices() if device.ep_name not in before]


def devices_of(plan: dict[str, Any]) -> list[str]:
    """Return what ORT says of the devices of a plan's providers, or of all where it lists none."""
    register_plugins(plan.get("plugins", {}))
    asked = {name for name, _ in plan["providers"] if name != "CPUExecutionProvider"}
    listed = ort.get_ep_devices()
    theirs = [device for device in listed if device.ep_name in asked] or listed
    return sorted(f"{_described(device)} {json.dumps(_facts(device), sort_keys=True)}" for device in theirs)


def _described(listed: Any) -> str:
    """Return a device as "cpu_ep: CPU of AMD (0.1.0)": kind, vendor, version of the plugin, and any name."""
    facts = _facts(listed)
    details = [text for name, text in sorted(facts.items()) if "name" in name.casefold() and text]
    details.insert(0, str(facts.get("version", "version not known")))
    return f"{listed.ep_name}: {listed.device.type.name} of {listed.device.vendor} ({', '.join(details)})"


def _facts(listed: Any) -> dict[str, Any]:
    """Return all that ONNX Runtime and the plugin say of a device, but where its library lies."""
    device = listed.device
    facts = {**listed.ep_metadata, **device.metadata, "numbers": [device.vendor_id, device.device_id]}
    return {name: text for name, text in facts.items() if name != "library_path"}


def _register(provider: str, library: str) -> None:
    if not hasattr(ort, "register_execution_provider_library"):
        raise RuntimeError("it takes no plugins")
    places: list[tuple[str, str, Callable[[], str]]] = [(provider, Path(library).name, lambda: library)]
    if library == "auto":
        places = [(package.module, package.requirement, package.library) for package in plugin_packages()]
    offers = []
    for name, described, place in places:
        before = _offered()
        if provider in before:
            return
        try:
            ort.register_execution_provider_library(name, place())
        except Exception as error:  # noqa: BLE001 - another package may offer it
            offers.append(f"{described} cannot be used: {error}")
            continue
        new = _offered() - before
        if provider not in new:
            ort.unregister_execution_provider_library(name)
            offers.append(f"{described} offers {', '.join(sorted(new)) or 'no device here'}")
    if provider not in _offered():
        raise RuntimeError(
            f"no device is offered; {'; '.join(offers) or 'no package with a plugin is installed'}"
        )


def _offered() -> set[str]:
    return {device.ep_name for device in ort.get_ep_devices()}
