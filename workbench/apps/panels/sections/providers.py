"""Execution providers in their order, whether they work here, and their options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import button, on_change, shown_in
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.options import Options, known_options
from workbench.apps.panels.sections.section import Section
from workbench.core.config import Config, Provider, catalogue
from workbench.core.config.provider import CPU, LIBRARY

if TYPE_CHECKING:
    from workbench.features.doctor import Doctor


APART = "── do not work here ──"  # between the providers that work and the others


@dataclass(frozen=True, slots=True)
class ProviderBox:
    """The widgets of a provider in the list."""

    widget: W.Widget
    head: W.HTML
    why: W.HTML
    options: Options


class ProvidersSection(Section):
    """The first choice stands first; what none of them takes goes to the CPU."""

    follows = ("doctor",)

    def build(self) -> list[W.Widget]:
        self.boxes: dict[tuple[int, str], ProviderBox] = {}  # by place and name
        self.empty = W.HTML(note_html("No provider is listed: only the CPU."))
        self.list = W.VBox([])
        self.choice = W.Dropdown(options=[], tooltip="A provider to add at the end of the list")
        self.add = button("Add", "Add this provider at the end of the list", self._add, self.status)
        hint = "Try every provider of this ONNX Runtime on a model of one node"
        self.check = button("Check again", hint, self.bench.look_at_machine, self.status)
        self.about, adding = W.HTML(), W.HBox([self.choice, self.add], classes="wbp-adding")
        on_change(self.choice, lambda _: self._describe_choice())
        if self.state.doctor is None and self.state.job is None:
            self.bench.look_at_machine()
        return [self.list, adding, self.about, self.check, *super().build()]

    def show(self, config: Config) -> None:
        super().show(config)
        doctor, listed = self.state.doctor, config.providers
        names = [provider.name for provider in listed]
        left = [card for card in catalogue().providers if card.name not in names]
        apart = do_not_work(doctor)
        works = [(f"{card.alias}: {state_of(doctor, card.name)}", card.name) for card in left]
        works = [option for option in works if option[1] not in apart]
        broken = [(f"{card.alias}: {apart[card.name]}", card.name) for card in left if card.name in apart]
        plugins = [(f"{name}: {what}", name) for name, what in self._plugins().items() if name not in names]
        chosen, options = self.choice.value, [*works, *plugins, *([(APART, ""), *broken] if broken else [])]
        if list(self.choice.options) != options:
            self.choice.options = options
            names = [name for _, name in options]
            self.choice.value = chosen if chosen in names else names[0]
        boxes = [self._box(place, provider.name) for place, provider in enumerate(listed)]
        for place, (box, provider) in enumerate(zip(boxes, listed, strict=True), 1):
            box.why.value = reason(doctor, provider.name)
            box.head.value = f"{place}. <b>{text(provider.short_name)}</b> {chip(doctor, provider.name)}"
            box.options.show(dict(provider.options))
        self.list.children = [box.widget for box in boxes] or [self.empty]
        self._describe_choice()

    def _box(self, place: int, name: str) -> ProviderBox:
        """Return the widgets of a provider at a place: made once, so that the focus stays in them."""
        if (place, name) in self.boxes:
            return self.boxes[place, name]
        head, why, options = (
            W.HTML(),
            W.HTML(),
            Options(known_options(name), partial(self._set_options, name)),
        )
        specs = (
            ("▲", "Move up: take nodes before the provider above", partial(self._move, -1, place)),
            ("▼", "Move down", partial(self._move, 1, place)),
            ("✕", f"Take {Provider(name).short_name} off the list", partial(self._drop, place)),
        )
        row = W.HBox(
            [head, *(button(*spec, self.status, classes="wbp-icon") for spec in specs)],
            classes="wbp-provider-head",
        )
        widget = W.VBox([row, why, options.widget], classes="wbp-provider")
        self.boxes[place, name] = ProviderBox(widget, head, why, options)
        return self.boxes[place, name]

    def _set_options(self, name: str, options: dict[str, str]) -> None:
        with shown_in(self.status):
            providers = self.config.providers
            changed = (
                Provider(name, options) if provider.name == name else provider for provider in providers
            )
            self.bench.set("providers", tuple(changed))
            self.refresh()

    def _plugins(self) -> dict[str, str]:
        """Return the providers that installed plugins offer here, each with its package and its device."""
        plugins = self.state.doctor.survey.plugins if self.state.doctor is not None else ()
        devices = [
            (plugin.package, *device.split(": ", 1)) for plugin in plugins for device in plugin.devices
        ]
        return {name: f"plugin {package}, {device}" for package, name, device in devices}

    def _add(self) -> None:
        if name := self.choice.value:
            options = {LIBRARY: "auto"} if name in self._plugins() else {}
            self.set("providers", (*self.config.providers, Provider(name, options)))

    def _drop(self, place: int) -> None:
        providers = list(self.config.providers)
        del providers[place]
        self.set("providers", tuple(providers))

    def _move(self, step: int, place: int) -> None:
        providers = list(self.config.providers)
        other = place + step
        if 0 <= other < len(providers):
            providers[place], providers[other] = providers[other], providers[place]
            self.set("providers", tuple(providers))

    def _describe_choice(self) -> None:
        """Say what the provider that could be added is for, and why it does not work here, if so."""
        name = self.choice.value
        if not name:
            self.about.value = ""
            return
        if name in self._plugins():
            sentence = "A plugin: a program that its package brings. Its options are passed on unchecked."
            self.about.value = note_html(sentence)
            return
        card = catalogue().provider(name)
        sentence = f"{card.hardware} {card.strengths} {card.limits} From: {card.wheel}"
        self.about.value = f'<div class="wbp-note">{text(sentence)}{reason(self.state.doctor, name)}</div>'


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
            reasons[card.name] = f"{missing[0]} was not found" if missing else state_of(doctor, card.name)
    return reasons


def state_of(doctor: Doctor | None, name: str) -> str:
    """Return whether a provider works here, in a word or two."""
    if doctor is None:
        return "not checked yet"
    check = next((check for check in doctor.survey.providers if check.name == name), None)
    return "not in this ONNX Runtime" if check is None else check.state


def chip(doctor: Doctor | None, name: str) -> str:
    """Return the state of a provider as a small mark."""
    state = state_of(doctor, name)
    kind = {"works": "good", "not checked yet": "quiet"}.get(state, "bad")
    return f'<span class="wbp-chip wbp-{kind}">{text(state)}</span>'


def reason(doctor: Doctor | None, name: str) -> str:
    """Return why a provider does not work and what to do; nothing if it works or nobody checked."""
    check = next((check for check in doctor.survey.providers if check.name == name), None) if doctor else None
    if check is None or check.state == "works":
        return ""
    return f"""<div class="wbp-note"><b>Fix:</b> {text(check.fix)}
<details><summary>the message</summary>{text(check.words, 600)}</details></div>"""
