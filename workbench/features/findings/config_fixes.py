"""Fixes that change the config: its passes, its precision, the options of a provider, its rewrites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.core.config import Provider
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.record import Fix

LEAST_SQNR_DB = 60.0  # the bound for any rewrite of float32


def config_fix(evidence: Evidence, text: str, **changes: Any) -> Fix:
    """Return a fix that changes these fields of the config."""
    return Fix("config", text, config=evidence.config.replace(**changes))


def precision_fix(evidence: Evidence, text: str, **changes: Any) -> Fix:
    """Return a fix that changes these fields of the precision, which the config has."""
    assert evidence.config.precision is not None
    return config_fix(evidence, text, precision=replace(evidence.config.precision, **changes))


def without_passes(evidence: Evidence, *names: str) -> tuple[str, ...]:
    """Return the passes that the config turns off, and these."""
    return tuple(dict.fromkeys((*evidence.config.disabled_passes, *names)))


def provider_of(evidence: Evidence, name: str) -> Provider | None:
    """Return the provider of this name in the config, or None."""
    return next((provider for provider in evidence.config.providers if provider.name == name), None)


def options_fix(
    evidence: Evidence, provider: Provider, text: str, options: Mapping[str, str | None], **changes: Any
) -> Fix:
    """Return a fix that sets these options of a provider (None leaves one out), and makes further changes."""
    kept = {key: value for key, value in {**dict(provider.options), **options}.items() if value is not None}
    changed = Provider(provider.name, kept)
    providers = tuple(
        changed if other.name == provider.name else other for other in evidence.config.providers
    )
    return config_fix(evidence, text, providers=providers, **changes)


def rewrite_fix(evidence: Evidence, name: str, text: str, code: str = "") -> Fix:
    """Return a fix with this rewrite added to the config, or a text alone if the config has the rewrite."""
    config = evidence.config
    if name in config.rewrites:
        return Fix("rewrite", f"{text}; {name}, which the config has, cannot", rewrite=name, code=code)
    return Fix(
        "config",
        f"{text}: rewrites=({name!r},)",
        config=config.replace(rewrites=(*config.rewrites, name)),
        rewrite=name,
        code=code,
        least_sqnr_db=LEAST_SQNR_DB if config.precision is None else None,
    )
