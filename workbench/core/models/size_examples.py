"""Values of an axis that are worth a try, sizes of a free dim or values of a knob: examples for a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.config.fields import values_like
from workbench.core.models.declared import declared_inputs
from workbench.core.models.sizes import Sizes, free_names, is_batch, tensor_of
from workbench.core.models.usual import Usual

if TYPE_CHECKING:
    from workbench.core.models.model import Model

BATCHES = (1, 8, 32)


def usual_sizes(model: Model) -> dict[str, int]:
    """Return the size that each free dim of the inputs has where none is given."""
    inputs, usual = declared_inputs(model.structure), dict[str, int]()
    sizes = Sizes(model.structure, inputs, {}, Usual(model.usual_dims))
    for declared in inputs:
        kind = tensor_of(declared.type)
        if kind is None or kind.dims is None:
            continue
        for axis, (dim, size) in enumerate(zip(kind.dims, sizes.of(declared, kind), strict=True)):
            if not isinstance(dim, int):
                usual.setdefault(dim or f"{declared.name}.{axis}", size)
    return usual


def sizes_to_try(model: Model | None, dim: str) -> tuple[int, int, int]:
    """Return three sizes of a dim: of a batch some usual ones, else the usual one, its half and quarter."""
    if model is None or is_batch(dim):
        return BATCHES
    largest = max(usual_sizes(model).get(dim, 1), 4)
    return largest // 4, largest // 2, largest


def values_to_try(model: Model | None, name: str) -> str:
    """Return sizes, as a text, of a free dim with this name, else values of a knob."""
    values = "" if model is not None and name in free_names(model.structure) else values_like(name)
    return values or ", ".join(map(str, sizes_to_try(model, name)))
