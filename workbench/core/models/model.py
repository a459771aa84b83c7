"""An opened model: its file, its structure, its inputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.core.background import check_cancel
from workbench.core.bundle.comparison import ModelRecord
from workbench.core.errors import InputError, ModelError
from workbench.core.models.description import Description, describe
from workbench.core.models.external import ExternalFile, beside_locations, external_files
from workbench.core.models.fingerprint import fingerprint
from workbench.core.models.structure import read_structure
from workbench.core.models.usual import FOUND, Usual, sizes_in
from workbench.core.text import path_text, shorten

if TYPE_CHECKING:
    from onnx import ModelProto

    from workbench.core.models.inputs import Inputs
    from workbench.core.models.scope import GraphScope

_COPY_BYTES = 1 << 20


class Model:
    """An ONNX file with its structure. Opening reads the graph and checks the files, but reads no weights."""

    def __init__(
        self,
        path: Path,
        name: str,
        *,
        usual_dims: Mapping[str, int] | None = None,
        structure: ModelProto | None = None,
    ) -> None:
        """Open the file. `structure`: the graph of the original, if the file is in ORT's own format."""
        self.name = name  # untrusted text
        self.path = path
        self.usual_dims = dict(usual_dims or {})  # sizes that a sample is meant to run at
        self.fed: Inputs | None = None  # what stands for data where none are given
        self.tried: Callable[[Model, Inputs, Mapping[str, Any]], Inputs] | None = None  # before an offer
        self.structure: ModelProto = structure or read_structure(path)  # without the data of large tensors
        self.graph_bytes = _size(path)
        self.external: tuple[ExternalFile, ...] = (
            () if structure else external_files(self.structure, path, path_text(path))
        )

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def sha256(self) -> str:
        """Return the hash of the file and its external data, computed at first use and cached."""
        return self.fingerprint()

    @property
    def file_bytes(self) -> int:
        """Return the size of the file and of its external data."""
        return self.graph_bytes + sum(file.size_bytes for file in self.external)

    def fingerprint(self, cancel: threading.Event | None = None) -> str:
        """Return `sha256`; `cancel` stops the first read of a large file."""
        return fingerprint(self.path, [file.name for file in self.external], cancel)

    @property
    def usual(self) -> Usual:
        """What the inputs are where nothing is given: as found by running the model, else the sample's."""
        usual = FOUND.get(self.fingerprint()) if FOUND else None
        known = usual or Usual(self.usual_dims, "the sample's usual size")
        if self.fed is None:
            return known
        return Usual(sizes_in(self.structure, self.fed.shapes), "as in the inputs that are run", known.values)

    def with_inputs(self, inputs: Inputs) -> Self:
        """Return the same model, whose calibration and evaluation take these inputs unless others are given.

        Random ones stand for their sizes: as many are drawn as are needed.
        """
        bound = copy(self)
        bound.fed = inputs
        return bound

    @cached_property
    def description(self) -> Description:
        return describe(self.structure, self.name, self.graph_bytes, self.external)

    def describe(self) -> Description:
        """Return the description of the model, which needs no run."""
        return self.description

    def inputs(
        self,
        source: Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
        *,
        seed: int = 0,
        dims: Mapping[str, Any] | None = None,
        **given: Any,
    ) -> Inputs:
        """Make random inputs that the model accepts, or check your own: an .npz file, a dict, dicts.

        Dims are given by symbolic name (`batch=8`) or by input and axis (`**{"x.0": 8}`), values by the name
        of their input (`pixels=array`): its sizes then count for the other inputs too. `dims` takes them as a
        mapping, whatever their names: `dims={"seed": 4}`. Sizes that had to be guessed are tried in a worker
        process, once, and others that run are found where they do not.
        """
        from workbench.core.models.inputs import given_inputs

        given = {**(dims or {}), **given}
        if source is None:
            drawn = self.draw(seed, given)
            return drawn if self.tried is None else self.tried(self, drawn, given)
        if given:
            raise InputError(
                "Dims and single arrays go with random inputs only",
                "Leave them out: your data have their own sizes",
            )
        return given_inputs(source, self.structure)

    @cached_property
    def scope(self) -> GraphScope:
        """The readers and makers of each value, by which inputs are drawn."""
        from workbench.core.models.scope import GraphScope

        return GraphScope(self.structure)

    def draw(
        self, seed: int = 0, given: Mapping[str, Any] | None = None, usual: Usual | None = None
    ) -> Inputs:
        """Make random inputs from what is known, without a try."""
        from workbench.core.models.generate import random_inputs

        return random_inputs(self.scope, self.name, seed, given or {}, usual or self.usual)

    def record(self, cancel: threading.Event | None = None) -> ModelRecord:
        """Return the model's record. The first call reads the file for its hash."""
        weights = sum(file.size_bytes for file in self.external)
        return ModelRecord(self.name, self.fingerprint(cancel), self.graph_bytes, weights)

    def __repr__(self) -> str:
        return f"Model({shorten(self.name)!r}: {self.description.headline})"

    def _repr_html_(self) -> str:
        return f"<b>{escape(shorten(self.name))}</b> {escape(self.description.headline)}"


def copy_model(model: Model, folder: Path, cancel: threading.Event | None = None) -> Path:
    """Copy the file and its external weights into a new folder; return the copy, model.onnx or model.ort."""
    folder.mkdir(parents=True)
    copy = folder / f"model{model.path.suffix}"
    names = beside_locations(model.structure, copy.name, shorten(model.name)) if model.external else ()
    for source, target in (
        (model.path, copy),
        *((model.path.parent / name, folder / name) for name in names),
    ):
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as reading, target.open("wb") as writing:
            while chunk := reading.read(_COPY_BYTES):
                writing.write(chunk)
                check_cancel(cancel)
    return copy


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise ModelError(f"{path_text(path)} went away while it was opened", "Load it again") from error
