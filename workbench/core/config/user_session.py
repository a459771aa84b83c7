"""What a session of the user's own code says of itself: its model, its options, its providers.

The session is asked, never run, and onnxruntime is not imported: the user's code has loaded it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.core.config.catalogue import SESSION, catalogue
from workbench.core.config.plan import AFFINITY, ATTRIBUTES, ENUMS, SPINNING
from workbench.core.config.provider import CPU, Provider, full_name
from workbench.core.errors import ConfigError, ModelError
from workbench.core.text import quoted


def is_session(thing: object) -> bool:
    """Return whether this is an `InferenceSession`."""
    return hasattr(thing, "get_session_options") and hasattr(thing, "get_provider_options")


def model_of(session: Any) -> Any:
    """Return the path or the bytes from which a session was made."""
    source = getattr(session, "_model_path", None) or getattr(session, "_model_bytes", None)
    if not source:
        raise ModelError("This session does not know its model", "Give the model's file: wb.load(path)")
    return source


def fields_of(thing: Any, providers: Iterable[Any] | None = None) -> dict[str, Any]:
    """Return the fields of a config that differ from ORT's defaults, of a session or of its options."""
    options = thing.get_session_options() if is_session(thing) else thing
    if not hasattr(options, "get_session_config_entry"):
        raise ConfigError(
            f"{quoted(thing)} is no session and no options of one.",
            "Give an onnxruntime.InferenceSession, or its SessionOptions and the providers.",
        )
    usual, fields = type(options)(), _entries(options)
    for attribute, field in ATTRIBUTES.items():
        if (value := getattr(options, attribute)) != getattr(usual, attribute):
            names = ENUMS[field][1] if field in ENUMS else {}
            fields[field] = next((name for name, theirs in names.items() if theirs == value.name), value)
    if providers is None and is_session(thing):
        providers = thing.get_provider_options().items()
    listed = [_provider(item) for item in providers or ()]
    if listed and listed != [Provider(CPU)]:
        known = {card.name for card in catalogue().providers}
        fields["providers"] = tuple(listed)
        fields["allow_unknown"] = any(provider.name not in known for provider in listed)
    return fields


def _entries(options: Any) -> dict[str, Any]:
    """Return the entries that the catalogue knows and that are set, as the knobs that hold them."""
    entries = {}
    for option in catalogue().options(SESSION):
        try:
            entries[option.name] = options.get_session_config_entry(option.name)
        except RuntimeError:  # it is not set
            continue
    fields: dict[str, Any] = {}
    spinning = {entries.get(name) for name in SPINNING}
    if len(spinning) == 1 and spinning <= {"0", "1"}:
        fields["spinning"] = "1" in spinning
        entries = {name: text for name, text in entries.items() if name not in SPINNING}
    if affinity := entries.pop(AFFINITY, None):
        fields["affinity"] = affinity
    if entries:
        fields["session_entries"] = entries
    return fields


def _provider(item: Any) -> Provider:
    """Return a provider with the options that differ from the defaults that the catalogue knows."""
    name, options = (item, {}) if isinstance(item, str) else item
    full, texts = full_name(name), {key: str(value) for key, value in dict(options).items()}
    usual = {key: option.default for key in texts if (option := catalogue().find(full, key)) is not None}
    return Provider(
        full, {key: text for key, text in texts.items() if key not in usual or usual[key] != text}
    )
