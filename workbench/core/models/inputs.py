"""The feeds of a model, and how they were made; an archive is bounded before unpacking, never unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.core.bundle.comparison import InputsRecord
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.errors import InputError
from workbench.core.models.checking import check_feed, check_values
from workbench.core.models.declared import declared_inputs
from workbench.core.models.values import MAX_BYTES
from workbench.core.stored_files import check_regular, expanded
from workbench.core.text import bytes_text, path_text, shorten

if TYPE_CHECKING:
    from onnx import ModelProto

MAX_FEEDS = 64  # limit for an iterable: enough to vary the data, few enough for memory
DRAWN = "random, seed "  # how the words about inputs begin of which some were drawn
_FORM = "Give a file that numpy.savez wrote, with one array for every input"


@dataclass(frozen=True, eq=False, slots=True)
class Inputs:
    """One or more feeds, each a read-only mapping from input name to value.

    A value is a read-only array (of ml_dtypes for bfloat16 and float8; of Python strings for strings),
    a list for a sequence, a dict for a map, or None for an absent optional.
    """

    feeds: tuple[Mapping[str, Any], ...]
    made_by: str  # "random, seed 0", "feeds.npz (given)"…
    seed: int | None
    guesses: tuple[str, ...]  # every guess, in words
    shapes: tuple[tuple[str, str], ...]  # of the first feed: (input name, "float32[1,3,224,224]")

    @property
    def is_real(self) -> bool:
        """Whether every value was given; `model.inputs(x=array)` draws the others, and has no seed either."""
        return self.seed is None and not self.made_by.startswith(DRAWN)

    def record(self) -> InputsRecord:
        """Return the record of the inputs, without data."""
        return InputsRecord(self.made_by, self.seed, self.shapes, self.guesses)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to a worker of a cluster: read-only views cannot be pickled."""
        return make_inputs, (tuple(map(dict, self.feeds)), self.made_by, self.seed, self.guesses)

    def to_frame(self) -> DataFrame:
        """Return one row per input of the first feed; columns input, value."""
        return data_frame(self.shapes, columns=["input", "value"])

    def __str__(self) -> str:
        many = f", {len(self.feeds)} feeds" if len(self.feeds) > 1 else ""
        lines = [f"  {shorten(name)}: {shown}" for name, shown in self.shapes]
        guessed = [f"  {guess}" for guess in self.guesses]
        return "\n".join(
            [f"Inputs ({self.made_by}{many})", *lines, *(["guesses:"] if guessed else []), *guessed]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def given_inputs(
    source: Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]],
    model: ModelProto,
) -> Inputs:
    """Make inputs from the user's own values, in any of the accepted forms, checked against the model."""
    if isinstance(source, Inputs):
        return source
    if isinstance(source, (str, Path)):
        return _given([read_npz(Path(source))], f"{shorten(Path(source).name)} (given)", model)
    if isinstance(source, Mapping):
        return _given([source], "dict (given)", model)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, np.ndarray)):
        feeds = list(islice(source, MAX_FEEDS))  # so that an endless generator is fine
        if not feeds:
            raise InputError("The iterable holds no feed", "Give at least one dict from input name to value")
        return _given(feeds, f"iterable of {len(feeds)} (given)", model)
    raise InputError(
        f"A {type(source).__name__} holds no inputs",
        "Give the path of an .npz file, a dict from input name to array, or an iterable of such dicts",
    )


def given_values(model: ModelProto, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part what is given by name into checked values of inputs, and sizes, those of the values included."""
    inputs = {declared.name: declared for declared in declared_inputs(model)}
    symbols = {dim for declared in inputs.values() for dim in declared.dims if isinstance(dim, str)}
    values = {
        name: value
        for name, value in given.items()
        if name in inputs and not (name in symbols and isinstance(value, int))
    }
    dims = {name: size for name, size in given.items() if name not in values}
    checked = check_values(values, inputs, [])
    for name, value in checked.items():
        sizes = zip(inputs[name].dims, getattr(value, "shape", ()), strict=False)
        for axis, (dim, size) in enumerate(sizes):
            if isinstance(dim, str) and dims.setdefault(dim, size) != size:
                raise InputError(
                    f"{shorten(name)!r} has {size} for the dim {shorten(dim)!r}, given as {dims[dim]}",
                    "Leave the dim out: the array has it",
                )
            if dim is None:
                dims[f"{name}.{axis}"] = size
    return checked, dims


def read_npz(path: Path) -> dict[str, Any]:
    """Read every array of the archive by name."""
    label, place = path_text(path), expanded(path)
    try:
        check_regular(place)
        with zipfile.ZipFile(place) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > MAX_BYTES:
            raise InputError(
                f"{label} unpacks to {bytes_text(total)}, above the bound of {bytes_text(MAX_BYTES)}",
                "Give fewer or smaller arrays",
            )
        with np.load(place, allow_pickle=False) as arrays:
            read = {name: arrays[name] for name in arrays.files}
        for name, array in read.items():
            if not isinstance(array, np.ndarray):  # numpy gives the bytes of any other file
                raise InputError(f"{label} holds {shorten(name)!r}, which is no array", _FORM)
        return read
    except InputError:
        raise
    except zipfile.BadZipFile as error:
        raise InputError(f"{label} is no .npz archive: {shorten(str(error))}", _FORM) from error
    except ValueError as error:
        fix = "Save strings as a unicode array (dtype 'U'), and nothing as Python objects"
        raise InputError(
            f"{label} holds an array that cannot be read: {shorten(str(error), 200)}", fix
        ) from error
    except OSError as error:
        raise InputError(f"{label} cannot be read: {error.strerror or error}", "Check the path") from error
    except Exception as error:
        raise InputError(f"{label} is damaged: {shorten(str(error), 200)}", _FORM) from error


def write_npz(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write what `np.savez` writes, which takes no array called "file"."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def make_inputs(
    feeds: Sequence[Mapping[str, Any]], made_by: str, seed: int | None, guesses: Iterable[str]
) -> Inputs:
    """Make read-only inputs from feeds that are known to fit."""
    frozen = tuple(MappingProxyType({name: _locked(value) for name, value in feed.items()}) for feed in feeds)
    shapes = tuple((name, value_text(value)) for name, value in frozen[0].items())
    return Inputs(frozen, made_by, seed, tuple(dict.fromkeys(guesses)), shapes)


def value_text(value: Any) -> str:
    """Return a value's type and shape as text: float32[1,128], likewise for sequences, maps and None."""
    if value is None:
        return "absent"
    if isinstance(value, list):
        return f"sequence of {len(value)}: " + (", ".join(value_text(item) for item in value[:4]) or "empty")
    if isinstance(value, dict):
        return f"map of {len(value)}"
    kind = "string" if value.dtype == object else str(value.dtype)
    return f"{kind}[{','.join(str(size) for size in value.shape)}]"


def _given(feeds: Sequence[Mapping[str, Any]], made_by: str, model: ModelProto) -> Inputs:
    guesses: list[str] = []
    checked = [check_feed(feed, model, guesses) for feed in feeds]
    return make_inputs(checked, made_by, None, guesses)


def _locked(value: Any) -> Any:
    """Return a read-only view; the user's own array stays writable."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if isinstance(value, list):
        return [_locked(item) for item in value]
    return value
