"""Handlers of widgets: ipywidgets swallows what one raises, so each runs inside `shown_in`."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.markup import bug_html, error_html
from workbench.apps.panels.state import BenchState
from workbench.core.errors import WorkbenchError
from workbench.core.form import Field
from workbench.drawing.card import ConfigUse
from workbench.drawing.markup import note_html

_thread = threading.local()  # a person may change a widget while another thread updates the panels


@contextmanager
def shown_in(status: W.HTML) -> Iterator[None]:
    """Show any error in `status`; re-raise an error that is our own bug."""
    status.value = ""
    try:
        yield
    except WorkbenchError as error:
        status.value = error_html(error)
    except Exception:
        status.value = bug_html(traceback.format_exc())
        raise


def guarded(handler: Callable[..., object], status: W.HTML) -> Callable[..., None]:
    """Return a handler that shows its errors in `status`."""

    def run(*arguments: Any) -> None:
        with shown_in(status):
            handler(*arguments)

    return run


def error_to(status: W.HTML) -> Callable[[Exception], None]:
    """Return a function that shows the error of a background task in `status`."""

    def show(error: Exception) -> None:
        status.value = error_html(error)

    return show


def button(
    label: str,
    hint: str,
    act: Callable[[], object],
    status: W.HTML,
    *,
    classes: str = "wbp-small",
    idle: BenchState | None = None,
) -> W.Button:
    """Return a button that runs `act` and shows its errors in `status`; it waits until a bench is `idle`."""
    made = W.Button(description=label, tooltip=hint, classes=classes)
    made.on_click(guarded(lambda _: act(), status))
    if idle is not None:
        follow(idle, lambda: setattr(made, "disabled", idle.job is not None), "job")
    return made


def text_field(field: Field, changed: Callable[[str], object], status: W.HTML) -> W.TextField:
    """Return the box of a field of a form; `changed` gets the text that was entered."""
    label = field.before or field.label
    made = W.TextField(description=label, placeholder=field.example_for(), tooltip=field.hint)
    on_change(made, changed, status=status)
    return made


def buttons_of(status: W.HTML, *specs: tuple[str, str, Callable[[], object]]) -> dict[str, W.Button]:
    """Return small buttons by their labels; of each, the tooltip and what a click runs."""
    return {label: button(label, hint, act, status) for label, hint, act in specs}


def use_button(state: BenchState, offer: ConfigUse, status: W.HTML) -> W.Button:
    """Return a button that takes a config over; its label says what changes, else where it goes."""
    place, words = offer.place, offer.words

    def use() -> None:
        state.set_config(place, offer.changed(state.configs[place]))
        what = f": {words}" if words else ""
        status.value = note_html(f"{place} is set{what}. Press Compare to measure it.")

    return button(words or f"Use as {place}", offer.hint, use, status)


@contextmanager
def own_changes() -> Iterator[None]:
    """Mark the changes that this thread makes inside as the panels' own: `on_change` ignores them."""
    depth = getattr(_thread, "depth", 0)
    _thread.depth = depth + 1
    try:
        yield
    finally:
        _thread.depth = depth


def on_change(
    widget: Any, handler: Callable[[Any], object], trait: str = "value", *, status: W.HTML | None = None
) -> None:
    """Call `handler` with the new value when a person changes it; show its errors in `status`."""
    handle = handler if status is None else guarded(handler, status)

    def changed(change: Any) -> None:
        if not getattr(_thread, "depth", 0):
            handle(change["new"])

    widget.observe(changed, names=trait)


def follow(owner: Any, update: Callable[[], object], *traits: str, until: Any = None) -> None:
    """Call `update` now, and whenever one of the traits of `owner` changes, `until` a widget is closed."""

    def changed(_: object) -> None:
        update()

    owner.observe(changed, names=traits)
    if until is not None:
        until.observe(lambda _: owner.unobserve(changed, names=traits), names="comm")
    update()


def link_selection(state: BenchState, widget: Any, trait: str) -> None:
    """Select the same nodes in every view."""

    def show() -> None:
        names = list(state.selected)
        if list(getattr(widget, trait)) != names:
            with own_changes():
                setattr(widget, trait, names)

    follow(state, show, "selected", until=widget)
    on_change(widget, lambda names: setattr(state, "selected", tuple(names)), trait)


def link_view(state: BenchState, view: Any) -> None:
    """Give a view the selection that all share, and the badges of the findings on its nodes."""

    def show_badges() -> None:
        held = state.held_in_role("finds")
        records = {label: part.record for label, part in held.items()}
        view.badges = next(iter(held.values())).of(records).badges if held else {}

    if view.has_trait("selected"):
        link_selection(state, view, "selected")
    if view.has_trait("badges"):
        follow(state, show_badges, "answer", "made", until=view)
