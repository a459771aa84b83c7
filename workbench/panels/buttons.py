"""Small buttons: each one's errors are shown where its row says."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import ipywidgets as W

from workbench.panels.guard import shown_in

Act = tuple[str, str, Callable[[], None]]  # what is written on it, its hint, what it does


def small_button(name: str, hint: str, act: Callable[[], None]) -> W.Button:
    """One whose act shows its own errors."""
    button = W.Button(description=name, tooltip=hint)
    button.add_class("wbp-small")
    button.on_click(lambda _: act())
    return button


def buttons_of(acts: Iterable[Act], status: W.HTML) -> dict[str, W.Button]:
    """By what is written on them, in this order; errors are shown in `status`."""
    return {name: small_button(name, hint, guarded(act, status)) for name, hint, act in acts}


def guarded(act: Callable[[], None], status: W.HTML) -> Callable[[], None]:
    """The act, with its errors shown."""

    def run() -> None:
        with shown_in(status):
            act()

    return run
