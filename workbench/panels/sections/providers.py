"""Where nodes run: the providers in order, whether they work here, and their options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ipywidgets as W

from workbench.config import Config, Provider, catalogue
from workbench.diagnosis import Doctor
from workbench.panels.guard import shown_in
from workbench.panels.markup import text
from workbench.panels.options import Options, known_options
from workbench.panels.sections.section import Section


class Providers(Section):
    """First choice first; what none of them takes goes to the CPU."""

    group = "providers"
    hint = "Execution providers: where nodes may run, in which order, and what each is told"

    def build(self) -> list[W.Widget]:
        self.cards: dict[tuple[int, str], tuple[W.Widget, W.HTML, W.HTML, Options]] = {}
        self.none = W.HTML('<div class="wbp-note">None is listed: the CPU alone.</div>')
        self.list = W.VBox([])
        self.choice = W.Dropdown(options=[], tooltip="A provider to add at the end of the list")
        self.add = W.Button(description="Add", tooltip="Add this provider at the end of the list")
        self.check = W.Button(
            description="Check again",
            tooltip="Try every provider of this ONNX Runtime on a model of one node",
        )
        self.add.add_class("wbp-small")
        self.about, adding = W.HTML(), W.HBox([self.choice, self.add])
        adding.add_class("wbp-adding")
        self.add.on_click(lambda _: self._add())
        self.check.on_click(lambda _: self._check())
        self.listen(self.choice, lambda _: self._tell())
        self.state.observe(lambda _: self.refresh(), names="doctor")
        if self.state.doctor is None and self.state.job is None:
            self._check()
        return [self.list, adding, self.about, self.check, *super().build()]

    def show(self, config: Config) -> None:
        super().show(config)
        doctor, listed = self.state.doctor, config.providers
        left = [card for card in catalogue().providers if card.name not in [one.name for one in listed]]
        chosen, options = (
            self.choice.value,
            [(f"{c.alias}: {state_of(doctor, c.name)}", c.name) for c in left],
        )
        if list(self.choice.options) != options:
            self.choice.options = options
            self.choice.value = chosen if chosen in [card.name for card in left] else left[0].name
        for place, provider in enumerate(listed):
            if (place, provider.name) not in self.cards:
                self.cards[place, provider.name] = self._card(place, provider.name)
            _, head, why, options_of = self.cards[place, provider.name]
            why.value = reason(doctor, provider.name)
            said = f"{place + 1}. <b>{text(provider.short_name)}</b> "
            head.value = said + chip(doctor, provider.name)
            options_of.show(dict(provider.options))
        none = [self.none] if not listed else []
        self.list.children = [*none, *(self.cards[at, one.name][0] for at, one in enumerate(listed))]
        self._tell()

    def _card(self, place: int, name: str) -> tuple[W.Widget, W.HTML, W.HTML, Options]:
        """The card of a provider at a place: kept, so that what has the focus keeps it."""
        head, options = W.HTML(), Options(known_options(name), partial(self._set_options, name))
        acts: tuple[tuple[str, str, Callable[[int], None]], ...] = (
            ("▲", "Move up: take nodes before the one above", partial(self._move, -1)),
            ("▼", "Move down", partial(self._move, 1)),
            ("✕", f"Take {Provider(name).short_name} off the list", self._drop),
        )
        buttons = [icon_button(sign, hint, partial(act, place)) for sign, hint, act in acts]
        row = W.HBox([head, *buttons])
        row.add_class("wbp-card-head")
        why = W.HTML()
        card = W.VBox([row, why, options.widget])
        card.add_class("wbp-card")
        return card, head, why, options

    def _set_options(self, name: str, options: dict[str, str]) -> None:
        with shown_in(self.status):
            listed = self.config.providers
            changed = tuple(Provider(name, options) if one.name == name else one for one in listed)
            self.bench.set("providers", changed)
            self.refresh()

    def _add(self) -> None:
        if self.choice.value:
            self.set("providers", (*self.config.providers, Provider(self.choice.value)))

    def _drop(self, place: int) -> None:
        listed = list(self.config.providers)
        del listed[place]
        self.set("providers", tuple(listed))

    def _move(self, step: int, place: int) -> None:
        listed = list(self.config.providers)
        other = place + step
        if 0 <= other < len(listed):
            listed[place], listed[other] = listed[other], listed[place]
            self.set("providers", tuple(listed))

    def _check(self) -> None:
        with shown_in(self.status):
            self.bench.look_at_machine()

    def _tell(self) -> None:
        """What the provider that could be added is for, and why it does not work where it does not."""
        name = self.choice.value
        if not name:
            self.about.value = ""
            return
        card = catalogue().provider(name)
        said = f"{card.hardware} {card.strengths} {card.limits} From: {card.wheel}"
        self.about.value = f'<div class="wbp-note">{text(said)}{reason(self.state.doctor, name)}</div>'


def state_of(doctor: Doctor | None, name: str) -> str:
    """Whether a provider works here, in a word or two."""
    if doctor is None:
        return "not checked yet"
    found = next((one for one in doctor.survey.providers if one.name == name), None)
    return "not in this ONNX Runtime" if found is None else found.state


def chip(doctor: Doctor | None, name: str) -> str:
    """The same as a small mark."""
    state = state_of(doctor, name)
    kind = {"works": "good", "not checked yet": "quiet"}.get(state, "bad")
    return f'<span class="wbp-chip wbp-{kind}">{text(state)}</span>'


def reason(doctor: Doctor | None, name: str) -> str:
    """Why it does not work and what to do; nothing where it does or where nobody looked."""
    found = next((one for one in doctor.survey.providers if one.name == name), None) if doctor else None
    if found is None or found.state == "works":
        return ""
    return f"""<div class="wbp-note"><b>Fix:</b> {text(found.fix)}
<details><summary>what was said</summary>{text(found.words, 600)}</details></div>"""


def icon_button(sign: str, hint: str, act: Callable[[], None]) -> W.Button:
    """A small button that is known by its sign."""
    button = W.Button(description=sign, tooltip=hint)
    button.add_class("wbp-icon")
    button.on_click(lambda _: act())
    return button
