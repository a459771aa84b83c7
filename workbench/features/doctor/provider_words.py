"""Whether each execution provider works here, why not, and what plugins add, as the doctor found it."""

from __future__ import annotations

from workbench.core.config import Provider, catalogue
from workbench.core.config.provider import CPU, LIBRARY
from workbench.features.doctor.records import Doctor


def do_not_work(doctor: Doctor | None) -> dict[str, str]:
    """Return why each provider that does not work here does not; nothing before the doctor ran."""
    if doctor is None:
        return {}
    checks = {check.name: check for check in doctor.survey.providers}
    reasons = {}
    for card in catalogue().providers:
        check = checks.get(card.name)
        if card.name != CPU and (check is None or check.state != "works"):
            missing = check.missing[:1] if check is not None else ()
            state = "not in this ONNX Runtime" if check is None else check.state
            reasons[card.name] = f"{missing[0]} was not found" if missing else state
    return reasons


def plugins(doctor: Doctor | None) -> dict[str, tuple[Provider]]:
    """Return the providers that installed plugins offer here, by name, package and device."""
    devices = [
        (plugin.package, *device.split(": ", 1))
        for plugin in (doctor.survey.plugins if doctor is not None else ())
        for device in plugin.devices
    ]
    return {f"{name}: plugin {package}, {what}": (Provider(name, {LIBRARY: "auto"}),)
            for package, name, what in devices}  # fmt: skip


def about_providers(doctor: Doctor | None) -> dict[str, str]:
    """Return of each provider what it is for, whether it works here, and what to do if not."""
    checks = {check.name: check for check in doctor.survey.providers} if doctor is not None else {}
    words = {}
    for card in catalogue().providers:
        check = checks.get(card.name)
        state = "not checked yet" if doctor is None else check.state if check else "not in this ONNX Runtime"
        fix = f" Fix: {check.fix}" if check is not None and check.state != "works" else ""
        sentence = f"{card.hardware} {card.strengths} {card.limits} From: {card.wheel}"
        words[card.alias] = f"{state[:1].upper()}{state[1:]}.{fix} {sentence}"
    return words
