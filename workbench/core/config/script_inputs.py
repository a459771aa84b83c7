"""The inputs of a run as code of a script: arrays of their sizes, with values of the same kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

from workbench.core.errors import WorkbenchError
from workbench.core.text import folded, shorten

_WHOLE = r"(?:0|[1-9][0-9]{0,17})"  # as Python takes it: words of a stranger may hold other digits
_END = r"((?:0|[1-9][0-9,]{0,20})(?:\.[0-9]+)?)"
_SHAPED = re.compile(r"(\w+)\[((?:\d{1,18})?(?:,\d{1,18})*)\]")
_RANGE = re.compile(rf"drawn from {_END} to {_END}")
_START = re.compile(rf"(?:positions|axes) from ({_WHOLE}) up(?:, at most ({_WHOLE}))?")
_LIST = re.compile(rf"the shape \[((?:-?{_WHOLE})?(?:, -?{_WHOLE})*)\]")
_CONSTANTS = (  # the words for a value, or a part of the input's name → the value
    (re.compile(r"a mask of|^True, |^one, "), 1),
    (re.compile(r"token types: zeros|^zeros: |^False|^zero, "), 0),
    (re.compile(r"the far end"), 2**31 - 1),
)
_NAMES = ((re.compile(r"mask"), 1), (re.compile(r"type_id|segment"), 0))
_COUNT = re.compile(
    rf"^({_WHOLE}), (?:a small count|a usual sample|with which|found by trying)"
    rf"|every sequence ({_WHOLE}) long"
)
_KNOWN = '''def draw(inputs, seed):
    """Return random arrays with the sizes and kinds of the inputs that the workbench runs."""
    # The inputs were %(made_by)r%(note)s
    random = np.random.default_rng(seed)
    feeds = {
%(lines)s
    }
    floats = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16"}
    return {
        value.name: feeds[value.name].astype(floats.get(value.type, feeds[value.name].dtype))
        for value in inputs
    }'''
_UNKNOWN = '''SIZES = %(sizes)r  # of axes without a size, by name


def draw(inputs, seed):
    """Return random arrays for the inputs of a session: numbers near 0, small integers, masks of ones."""
    random = np.random.default_rng(seed)
    types = {"float": "float32", "double": "float64"}
    feeds = {}
    for value in inputs:
        kind = value.type.removeprefix("tensor(").removesuffix(")")
        for axis in value.shape:
            if not isinstance(axis, int) and axis not in SIZES:
                print(f"SIZES has no size of the axis {axis!r} of {value.name!r}: 1 is taken")
                SIZES[axis] = 1
        shape = [SIZES.get(axis, axis) for axis in value.shape]
        dtype = np.dtype(types.get(kind, kind))
        if "mask" in value.name or dtype.kind == "b":
            feeds[value.name] = np.ones(shape, dtype)
        elif "type_id" in value.name or "segment" in value.name:
            feeds[value.name] = np.zeros(shape, dtype)
        elif dtype.kind in "iu":
            feeds[value.name] = random.integers(0, 10, shape).astype(dtype)
        else:
            feeds[value.name] = random.standard_normal(shape).astype(dtype)
    return feeds'''


class Described(Protocol):
    """Inputs as they were made: `wb.Inputs`, or their record."""

    @property
    def made_by(self) -> str: ...
    @property
    def shapes(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def guesses(self) -> tuple[str, ...]: ...


def inputs_of_model(
    model: Any, fixed: Mapping[str, int], sizes: Mapping[str, int] | None = None
) -> Described | None:
    """Return the random inputs of an opened model; None of a path, and of a model that takes none.

    `fixed` are the free dimensions of a config, which may name some that no input has.
    """
    if not hasattr(model, "inputs"):
        return None
    names = {dim for declared in model.describe().inputs for dim in declared.dims}
    known = {name: size for name, size in fixed.items() if name in names}
    for given in ({**known, **(sizes or {})}, known, {}):
        with suppress(WorkbenchError):
            described: Described = model.inputs(dims=given)
            return described
    return None


def draw_code(inputs: Described | None, sizes: Mapping[str, int] | None = None) -> str:
    """Return the function `draw(inputs, seed)` of a script: as the inputs are, else for any session.

    `sizes` holds those of axes by name, for a model whose inputs are not known.
    """
    if inputs is None:
        return _UNKNOWN % {"sizes": dict(sizes or {})}
    is_random = inputs.made_by.startswith("random")
    guesses = inputs.guesses if is_random else ()
    lines = [_line(name, text, _words(name, guesses)) for name, text in inputs.shapes]
    if None in lines:
        return _UNKNOWN % {"sizes": dict(sizes or {})}
    note = "" if is_random else ", of which only the sizes are known here"
    return _KNOWN % {"made_by": inputs.made_by, "note": note, "lines": "\n".join(map(str, lines))}


def _words(name: str, guesses: tuple[str, ...]) -> str:
    """Return how the value of an input was made; guesses about its axes stand before it."""
    start = f"{shorten(name)}: "
    return next((guess.removeprefix(start) for guess in reversed(guesses) if guess.startswith(start)), "")


def _line(name: str, text: str, words: str) -> str | None:
    """Return the entry of one input; None of a value that is no tensor."""
    shaped = _SHAPED.fullmatch(text)
    if shaped is None:
        return None
    dtype, sizes = shaped.groups()
    shape = tuple(int(size) for size in sizes.split(",") if size)
    return f"        {name!r}: {_array(dtype, shape, words, folded(name))},"


def _array(dtype: str, shape: tuple[int, ...], words: str, name: str) -> str:
    """Return the code of an array of the kind that the words say, else that the input's name suggests."""
    is_number = dtype.startswith(("int", "uint"))
    constants = ((_CONSTANTS, words), (_NAMES, "" if words else name))
    for known, text in constants:
        for pattern, value in known:
            if pattern.search(text):
                return f"np.full({shape}, {value}, {dtype!r})"
    if count := _COUNT.search(words):
        return f"np.full({shape}, {count[1] or count[2]}, {dtype!r})"
    if values := _LIST.search(words):
        return f"np.array([{values[1]}], {dtype!r}).reshape({shape})"
    if is_number and ((start := _START.search(words)) or (not words and "position" in name)):
        first, steps = int(start[1]) if start else 0, shape[-1] if shape else 1
        line = f"np.arange({first}, {first + steps}, dtype={dtype!r})"
        line = f"np.minimum({line}, {start[2]})" if start and start[2] else line
        return f"np.resize({line}, {shape})"
    if dtype == "string":
        return f'np.full({shape}, "word", object)'
    if dtype == "bool":
        return f"random.integers(0, 2, {shape}).astype(bool)"
    drawn = _RANGE.search(words)
    ends = [end.replace(",", "") for end in drawn.groups()] if drawn else []
    if is_number:
        low, high = (int(end.partition(".")[0]) for end in ends or ("0", "9"))
        return f"random.integers({low}, {high + 1}, {shape}).astype({dtype!r})"
    if ends:
        return f"random.uniform({ends[0]}, {ends[1]}, {shape}).astype({dtype!r})"
    return f"random.standard_normal({shape}).astype({dtype!r})"
