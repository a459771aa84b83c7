"""Plugin execution providers: each is registered once in this process."""

from __future__ import annotations

from collections.abc import Callable

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
    """Return the devices of an installed plugin, as "name: kind of vendor"; none if it has none here."""
    package = next(package for package in plugin_packages() if package.module == module)
    before = _offered()
    ort.register_execution_provider_library(module, package.library())
    return [
        f"{device.ep_name}: {device.device.type.name} of {device.device.vendor}"
        for device in ort.get_ep_devices()
        if device.ep_name not in before
    ]


def _register(provider: str, library: str) -> None:
    if not hasattr(ort, "register_execution_provider_library"):
        raise RuntimeError("it takes no plugins")
    places: dict[str, Callable[[], str]] = {provider: lambda: library}
    if library == "auto":
        places = {package.module: package.library for package in plugin_packages()}
    offers = []
    for name, place in places.items():
        before = _offered()
        if provider in before:
            return
        try:
            ort.register_execution_provider_library(name, place())
        except Exception as error:  # noqa: BLE001 - another package may offer it
            offers.append(f"{name} cannot be used: {error}")
            continue
        new = _offered() - before
        if provider not in new:
            ort.unregister_execution_provider_library(name)
            offers.append(f"{name} offers {', '.join(sorted(new)) or 'no device here'}")
    if provider not in _offered():
        raise RuntimeError(
            f"no device is offered; {'; '.join(offers) or 'no package with a plugin is installed'}"
        )


def _offered() -> set[str]:
    return {device.ep_name for device in ort.get_ep_devices()}
