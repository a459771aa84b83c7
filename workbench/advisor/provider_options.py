"""Changes of a provider's options, as fixes make them."""

from __future__ import annotations

from typing import Any

from workbench.advisor.evidence import Evidence
from workbench.config import Config, Provider


def provider_of(evidence: Evidence, name: str) -> Provider | None:
    """Return the provider of this name in the config, or None."""
    return next((provider for provider in evidence.config.providers if provider.name == name), None)


def with_added(evidence: Evidence, name: str, options: dict[str, str], **changes: Any) -> Config:
    """Return the config with these options added to those of a provider, and further changes."""
    provider = provider_of(evidence, name)
    known = {} if provider is None else dict(provider.options)
    return with_options(evidence, name, {**known, **options}, **changes)


def with_options(evidence: Evidence, name: str, options: dict[str, str], **changes: Any) -> Config:
    """Return the config with these options of a provider in place of its own, and further changes."""
    providers = tuple(
        Provider(name, options) if provider.name == name else provider
        for provider in evidence.config.providers
    )
    return evidence.config.replace(providers=providers, **changes)
