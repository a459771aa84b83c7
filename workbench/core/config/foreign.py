"""Paths in a config that came with a file from elsewhere: marked, shown, and used after the user's word.

They are the interpreter, a prepared model file, libraries of custom operators, and every option that opens a
file or a library. An option that the catalogue does not know counts as one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.config.catalogue import RUN, SESSION, catalogue
from workbench.core.config.engines import FACTORY
from workbench.core.config.fields import ConfigFields
from workbench.core.config.option import ELSEWHERE, HIDDEN, is_secret
from workbench.core.config.provider import full_name
from workbench.core.errors import ConfigError
from workbench.core.text import one_line, public_address, quoted

RUNTIME, PREPARED_MODEL, CUSTOM_OPS = "runtime", "precision.model", "custom_ops"
_ENTRIES = {"session_entries": SESSION, "run_entries": RUN}

Change = Callable[[str, str], str]  # (option, value) to the value in its place


@dataclass(frozen=True, slots=True)
class ForeignPath:
    """A path that a config from elsewhere names. Both texts are untrusted."""

    option: str  # "runtime", "precision.model", "custom_ops", or the key of an option or entry
    value: str

    @property
    def marked(self) -> str:
        """The value as the config holds it until it is trusted."""
        return ELSEWHERE + self.value.lstrip("/\\")

    def __str__(self) -> str:
        return f"{one_line(self.option)} = {quoted(self.value)}"


def is_path(owner: str, name: str) -> bool:
    """Whether the value names a file, folder or library, as far as the catalogue knows."""
    option = catalogue().find(owner, name)
    return option is None or option.opens is not None


def quarantined(data: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[ForeignPath, ...]]:
    """The JSON of a config with every path marked, and the paths as they were. No path is looked up."""
    paths: list[ForeignPath] = []

    def mark(option: str, value: str) -> str:
        if not value or value.startswith(ELSEWHERE):  # cut when it was saved
            return value
        paths.append(ForeignPath(option, value))
        return paths[-1].marked

    return _changed(data, mark), tuple(paths)


def restored(data: Mapping[str, Any], trusted: Iterable[ForeignPath]) -> dict[str, Any]:
    """Return the JSON of a config with these paths as they were."""
    values = {(path.option, path.marked): path.value for path in trusted}
    return _changed(data, lambda option, value: values.get((option, value), value))


def without_secrets(data: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Return the JSON of a config with every secret hidden, and the secrets."""
    secrets: set[str] = set()

    def hide(option: str, value: str) -> str:
        if option == PREPARED_MODEL:
            secrets.add(value.partition("?")[2] if "://" in value else "")
            return public_address(value)
        if not is_secret(option) or value in ("", HIDDEN):
            return value
        secrets.add(value)
        return HIDDEN

    return _changed(data, hide), secrets - {""}


def check_trusted(config: ConfigFields) -> None:
    """Refuse a config that holds a path from elsewhere which nobody trusted."""

    def refuse(option: str, value: str) -> str:
        if value == HIDDEN and is_secret(option):
            raise ConfigError(
                f"{one_line(option)} was hidden when this was saved: its name says that it is a secret.",
                "Give it again with config.replace(…).",
            )
        if value.startswith(ELSEWHERE):
            raise ConfigError(
                f"{one_line(option)} is {quoted(value)}: a path of another machine or from a file of "
                "somebody else, which no run uses.",
                "Name a path of your own with config.replace(…). Or, if you know what it is and it came "
                f"with an opened file: opened.trust({option!r}).",
            )
        return value

    _changed({name: value for name, value in config.to_dict().items() if name != RUNTIME}, refuse)


def _changed(data: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Return a copy with `change` applied to every path. Data of a wrong form stay: reading refuses them."""
    result = dict(data)
    if isinstance(result.get(RUNTIME), str):
        result[RUNTIME] = change(RUNTIME, result[RUNTIME])
    for option in (PREPARED_MODEL, FACTORY):
        field, _, name = option.partition(".")
        part = result.get(field)
        if isinstance(part, Mapping) and isinstance(part.get(name), str):
            result[field] = {**part, name: change(option, part[name])}
    libraries = result.get(CUSTOM_OPS)
    if isinstance(libraries, list):
        result[CUSTOM_OPS] = [
            change(CUSTOM_OPS, path) if isinstance(path, str) else path for path in libraries
        ]
    for field, owner in _ENTRIES.items():
        if isinstance(result.get(field), Mapping):
            result[field] = _options(owner, result[field], change)
    if isinstance(result.get("providers"), list):
        result["providers"] = [_provider(provider, change) for provider in result["providers"]]
    return result


def _provider(data: Any, change: Change) -> Any:
    if not isinstance(data, Mapping) or not isinstance(data.get("options"), Mapping):
        return data
    return {**data, "options": _options(_full_name(data.get("name")), data["options"], change)}


def _full_name(name: Any) -> str:
    """The name under which the catalogue has a provider; a name that is none has no known options."""
    try:
        return full_name(name)
    except ConfigError:
        return ""


def _options(owner: str, options: Mapping[Any, Any], change: Change) -> dict[Any, Any]:
    return {
        name: change(name, value)
        if isinstance(name, str) and isinstance(value, str) and is_path(owner, name)
        else value
        for name, value in options.items()
    }
