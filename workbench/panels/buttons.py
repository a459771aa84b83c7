"""Buttons whose errors are shown beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.panels import widgets as W
from workbench.panels.guard import shown_in

Spec = tuple[str, str, Callable[[], None]]  # label, tooltip, what a click runs


def button(
    label: str, hint: str, act: Callable[[], None], status: W.HTML, *, kind: str = "small"
) -> W.Button:
    """Return a button that runs `act` and shows its errors in `status`; `kind` is small, icon or empty."""
    classes = (f"wbp-{kind}",) if kind else ()
    made = W.Button(description=label, tooltip=hint, _dom_classes=classes)

    def click(_: object) -> None:
        with shown_in(status):
            act()

    made.on_click(click)
    return made


def buttons_of(specs: Iterable[Spec], status: W.HTML) -> dict[str, W.Button]:
    """Return small buttons by their labels, in this order."""
    return {label: button(label, hint, act, status) for label, hint, act in specs}
