"""The kind of knob that holds providers with their options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.core.config.knob import Knob, Words, of_type
from workbench.core.config.literals import literal, text_literal
from workbench.core.config.name_kinds import changed_items, split_names, texts_of
from workbench.core.config.option import shown
from workbench.core.config.provider import Provider, full_name
from workbench.core.errors import ConfigError
from workbench.core.text import QUOTED, one_line, quoted


class Providers(Knob):
    """Execution providers in the order of choice."""

    __slots__ = ()
    DEFAULT = ()
    TYPED = "a list: cuda, cpu"
    EXAMPLE = "Give a list, first choice first: ['cuda', 'cpu'] or [Provider('cuda', device_id=1)]."

    def canonical(self, value: object) -> tuple[Provider, ...]:
        if isinstance(value, str | Provider):
            value = (value,)
        if isinstance(value, Mapping) or not isinstance(value, Iterable):
            raise self.refused(value, self.EXAMPLE)
        return tuple(map(self._provider, value))

    def _provider(self, item: object) -> Provider:
        if isinstance(item, Provider):
            return item
        if isinstance(item, str):
            return Provider(item)
        if isinstance(item, tuple | list) and len(item) == 2:  # as onnxruntime's users write it
            return Provider(item[0], item[1])
        raise self.refused(item, self.EXAMPLE)

    def parse(self, text: str) -> tuple[str, ...]:
        return split_names(text)

    def parse_inside(self, value: object, texts: Mapping[str, str]) -> tuple[Provider, ...]:
        providers = {provider.name: provider for provider in self.canonical(value)}
        for path, text in texts.items():
            name, _, option = path.partition(".")  # an option may have dots
            if not option:
                raise ConfigError(
                    f"providers.{path} names no option.",
                    "Write providers.NAME.OPTION=VALUE: providers.cuda.device_id=0.",
                )
            provider = providers.get(full_name(name))
            if provider is None:
                raise ConfigError(
                    f"{option!r} is set for {name!r}, which is not among the providers.",
                    f"Add providers={name},cpu.",
                )
            options = {**dict(provider.options), option: text}
            providers[provider.name] = Provider(provider.name, options)
        return tuple(providers.values())

    def to_json(self, value: tuple[Provider, ...]) -> list[dict[str, Any]]:
        return [{"name": provider.name, "options": dict(provider.options)} for provider in value]

    def from_json(self, data: object) -> tuple[Provider, ...]:
        return tuple(map(_from_json, of_type(self.field, data, list)))

    def words(self, value: tuple[Provider, ...]) -> str:
        return " then ".join(provider.short_name for provider in value) or self.unset

    def cell(self, value: tuple[Provider, ...]) -> str:
        return ", then ".join(map(_cell, value))

    def code(self, value: tuple[Provider, ...]) -> str:
        return f"[{', '.join(map(_code, value))}]"

    def changes(self, before: tuple[Provider, ...], after: tuple[Provider, ...]) -> Iterator[Words]:
        if self.words(before) != self.words(after):
            yield self.label, self.words(before), self.words(after)
        held = {provider.name: provider.options for provider in before}
        for provider in after:
            options = changed_items(held.get(provider.name, ()), provider.options, "its default")
            yield from ((f"{provider.short_name} {key}", first, second) for key, first, second in options)


def _cell(provider: Provider) -> str:
    options = (f"{key}={one_line(shown(key, text), QUOTED)}" for key, text in provider.options)
    return " ".join([provider.short_name, *options])


def _from_json(data: object) -> Provider:
    provider = of_type("a provider", data, dict)
    if set(provider) != {"name", "options"}:
        keys = quoted(sorted(map(str, provider)))
        raise ConfigError(f"A provider has the keys {keys}.", "It has 'name' and 'options'.")
    return Provider(provider["name"], texts_of("options", of_type("options", provider["options"], dict)))


def _code(provider: Provider) -> str:
    name = text_literal(provider.short_name)
    return f"wb.Provider({name}, {literal(dict(provider.options))})" if provider.options else name
