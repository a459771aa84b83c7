"""The inputs of the model, and which of its free dimensions ORT gets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import on_change
from workbench.apps.panels.markup import error_html, text
from workbench.apps.panels.request import InputsPreview
from workbench.apps.panels.sections.section import Section
from workbench.core.config import Config
from workbench.core.errors import ConfigError

MOST_DIMENSIONS = 24  # that get a row; a model with more of them is fed by a file


class InputsSection(Section):
    """Sizes and data are common to A and B; the sizes that ORT gets are not."""

    follows = ("dims", "seed", "data", "preview")

    def build(self) -> list[W.Widget]:
        self.sizes: dict[str, tuple[W.TextField, W.TextField]] = {}
        self.grid, self.preview = W.VBox([]), W.HTML()
        self.seed = W.BoundedIntText(
            min=0, max=2**31 - 1, description="seed", tooltip="Of random inputs. Default 0."
        )
        self.data = W.TextField(
            description="data", placeholder="path of an .npz or of a folder; empty: random inputs",
            tooltip="An .npz file with an array for every input, or a folder of images or .npy files",
        )  # fmt: skip
        on_change(self.seed, partial(setattr, self.state, "seed"))
        on_change(self.data, lambda path: setattr(self.state, "data", path.strip()))
        return [self.grid, self.seed, self.data, self.preview, *super().build()]

    def show(self, config: Config) -> None:
        super().show(config)
        names = dimensions(self.state.model)
        if list(self.sizes) != names:
            self.sizes = {
                name: (
                    self._size("chosen", f"Size of {name} in the inputs of A and B", self._set_size, name),
                    self._size("left free", f"Tell ORT that {name} always has this size", self._fix, name),
                )
                for name in names
            }
            head = W.HTML(
                '<div class="wbp-note">free dimension: its size in the inputs, and the size that ORT gets'
                "</div>"
            )
            self.grid.children = [head, *map(self._row, names)] if names else []
        for name, (size, fixed) in self.sizes.items():
            size.value = str(dict(self.state.dims).get(name, ""))
            fixed.value = str(dict(config.free_dimensions).get(name, ""))
        self.seed.value, self.data.value = self.state.seed, self.state.data
        self.preview.value = preview_html(self.state.preview)

    def _row(self, name: str) -> W.Widget:
        size, fixed = self.sizes[name]
        if name in unnamed(self.state.model):
            fixed.disabled, fixed.placeholder = True, "unnamed"
            fixed.tooltip = "ORT knows the free dimensions by name, and this one has none"
        return W.HBox([W.Label(value=name), size, fixed], classes="wbp-dimension")

    def _size(self, unset: str, hint: str, set_size: Callable[[str, str], None], name: str) -> W.TextField:
        box = W.TextField(placeholder=unset, tooltip=hint)
        on_change(box, partial(set_size, name), status=self.status)
        return box

    def _set_size(self, name: str, typed: str) -> None:
        others = {key: size for key, size in self.state.dims if key != name}
        self.state.dims = tuple({**others, **whole(name, typed)}.items())

    def _fix(self, name: str, typed: str) -> None:
        others = {key: size for key, size in self.config.free_dimensions if key != name}
        self.bench.set("free_dimensions", {**others, **whole(name, typed)})


def preview_html(preview: InputsPreview | None) -> str:
    """Return what the inputs are and what was guessed, or why they cannot be made."""
    if preview is None:
        return ""
    if preview.error is not None:
        return error_html(preview.error)
    lines = [f"<li><b>{text(name)}</b> {text(kind)}</li>" for name, kind in preview.shapes]
    guesses = [f"<li><i>{text(guess)}</i></li>" for guess in preview.guesses]
    return f'<ul class="wbp-note">{"".join([*lines, *guesses])}</ul>'


def dimensions(model: Any) -> list[str]:
    """Return the names of a model's free dimensions, in the order of its inputs; of unnamed ones `x.2`."""
    if model is None:
        return []
    return list(dict.fromkeys(name or f"{declared}.{axis}" for declared, axis, name in _free(model)))[
        :MOST_DIMENSIONS
    ]


def unnamed(model: Any) -> set[str]:
    """Return the names, made of an input and an axis, of dimensions without a name of their own."""
    return {f"{declared}.{axis}" for declared, axis, name in _free(model) if name is None}


def _free(model: Any) -> list[tuple[str, int, str | None]]:
    from workbench.core.models.sizes import free_dims  # and onnx with it

    return list(free_dims(model.describe().inputs))


def whole(name: str, typed: str) -> dict[str, int]:
    """Return a size by its dimension's name; nothing for an empty text."""
    if not typed.strip():
        return {}
    if not typed.strip().isdecimal() or not 0 < int(typed) < 2**31:
        raise ConfigError(
            f"The size of {name!r} cannot be {typed[:40]!r}.", "Write a whole number such as 8."
        )
    return {name: int(typed)}
