"""A record with its origin and its parts: saved, kept in the history, opened again."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any, Self

from workbench._version import __version__
from workbench.core.bundle.atomic import write_atomically
from workbench.core.bundle.bundle import pack_record, unpack_record
from workbench.core.bundle.kinds import Part
from workbench.core.bundle.machine import NOT_INSTALLED, ORT_PACKAGES, SoftwareVersions, installed
from workbench.core.bundle.origin import Origin, new_id
from workbench.core.bundle.trust import untrusted_note, with_trust
from workbench.core.config import Config
from workbench.core.config.foreign import ForeignPath
from workbench.core.errors import ConfigError, WorkbenchError, warn_user
from workbench.core.feature import Feature, function_at
from workbench.core.measure.machine import read_machine
from workbench.core.models import Inputs, Model
from workbench.core.stored_files import folder_to_write
from workbench.core.text import quoted
from workbench.drawing.exportable import Exportable
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import facts
from workbench.features.base.history import History
from workbench.features.base.registry import KINDS

if TYPE_CHECKING:
    from workbench.drawing.card import ConfigUse
    from workbench.drawing.chart import Chart
    from workbench.drawing.scene import Scene


class Result(Exportable):
    """A record with its figures. `about` is its origin: model, machine, versions, when."""

    knows_best = False  # whether it holds measured configs, of which `best` gives one within limits
    foreign_paths: tuple[ForeignPath, ...] = ()  # of the configs of an opened file; no run uses them

    def __init__(
        self,
        record: Any,
        about: Origin | None = None,
        *,
        structure: bytes | None = None,
        parts: tuple[Part, ...] = (),
    ) -> None:
        self.record = record
        self.structure = structure  # the model's graph without its weights, as ONNX
        self.parts = parts
        self._about = about

    @classmethod
    def reopened(cls, record: Any, about: Origin | None = None, **stored: Any) -> Self:
        """Make the result that a bundle holds; `stored` are its structure and its parts."""
        return cls(record, about, **stored)

    @classmethod
    def of_part(cls, part: Part) -> Self:
        """Make a result of a part of another one."""
        return cls.reopened(part.record, part.about)

    def as_parts(self, label: str) -> tuple[Part, ...]:
        """Return the parts that keep this result with a comparison; `label` names the run it is about."""
        of_run = "" if self.feature.per == "runs" else f"/{label}"
        return (Part(f"{self.feature.name}{of_run}", self.saved, self.about),)

    def measured_at(self, latency_s: Mapping[str, float], label: str | None) -> Self:
        """Return it as part of a comparison that measured these latencies; `label` is the run it is about."""
        del latency_s, label
        return self

    @cached_property
    def about(self) -> Origin:
        """Its origin; of a result made by hand: now, this machine, no model."""
        own = self.feature.about
        if own is not None:
            return own(self.saved)
        return self._about if self._about is not None else origin_of(None)

    @property
    def saved(self) -> Any:
        """The record as a bundle holds it."""
        return self.record

    @property
    def _drawn(self) -> Any:
        """What its figures are about."""
        return self.record

    @property
    def feature(self) -> Feature:
        """What declares this kind of result."""
        return KINDS.of(self.saved, "Give what the workbench returned.")

    def chart(self) -> Chart:
        """Return the chart that its figure and its picture draw, unless they have functions of their own."""
        if not self.feature.chart:
            raise WorkbenchError(
                f"A {type(self).__name__} has no chart: it is drawn otherwise.",
                "Call .figure() for the live figure, or .still() for the picture.",
            )
        chart: Chart = function_at(self.feature.chart)(self._drawn)
        return chart

    def figure(self) -> Any:
        """Draw its figure with plotly; return None where it has none."""
        draw = self.feature.figure
        return function_at(draw)(self._drawn) if draw else super().figure()

    def still(self) -> Scene:
        """Draw its picture without a browser."""
        draw = self.feature.picture
        scene: Scene = function_at(draw)(self._drawn) if draw else super().still()
        return scene

    def uses(self) -> tuple[ConfigUse, ...]:
        """Return the configs that it proposes; most results propose none."""
        return ()

    def to_frame(self) -> Any:
        """Return the result as the table that its record makes."""
        return self.record.to_frame()

    def save(self, path: str | os.PathLike[str], *, weights: bool = False) -> Path:
        """Write a bundle that `wb.open` reads anywhere, without the model and without ONNX Runtime.

        No weight, documentation string or metadata of the model is in it, unless `weights` asks for what
        the kept structure has of them: small tensors, and all texts.
        """
        return write_atomically(path, packed(self, weights=weights))

    def export(self, folder: str | os.PathLike[str]) -> Path:
        """Write it as a folder of plain files, and return that folder.

        Every table as CSV, the configs as JSON and as scripts, the picture, the bundle, and `index.json`,
        which names the files and the unit of every column.
        """
        from workbench.features.base.folder import export_folder

        return export_folder(self, folder_to_write(folder))

    def shared(self) -> Self:
        """Return the result that a reader of its bundle has, without any path of this machine."""
        result: Self = KINDS.result(unpack_record(packed(self, weights=True), KINDS))
        return result

    @property
    def subject(self) -> str:
        """The name of its model, or this machine."""
        return "This machine" if self.about.model is None else self.about.model.name

    def document(self) -> Document:
        """Return its page, which ends with its origin."""
        page = super().document()
        self._add_origin(page)
        return page

    def _add_origin(self, page: Document) -> None:
        about = self.about
        rows: list[tuple[str, object]] = [("id", about.id), ("made", about.created_utc)]
        if about.model is not None:
            rows += [("model", about.model.name), ("SHA-256", about.model.sha256)]
        if about.inputs is not None:
            rows.append(("inputs", about.inputs.made_by))
        if about.machine is not None:
            rows += [("processor", about.machine.cpu), ("system", about.machine.platform)]
        if about.versions is not None:
            rows.append(("ONNX Runtime", about.versions.onnxruntime))
        page.add("made", "How it was made", facts(rows))

    def trust(self, *options: str) -> Self:
        """Let the configs of an opened file use the paths of these options, after reading `foreign_paths`."""
        trusted = [path for path in self.foreign_paths if path.option in options]
        missing = set(options) - {path.option for path in trusted}
        if missing or not options:
            names = ", ".join(dict.fromkeys(repr(path.option) for path in self.foreign_paths))
            raise ConfigError(
                f"{', '.join(map(repr, sorted(missing))) or 'nothing'} is no path that was left out.",
                f"Name the options to trust: {names or 'there are none'}.",
            )
        record = with_trust(self.__dict__.get("record"), trusted)  # first, since it may be refused
        self.parts, self._about = with_trust((self.parts, self._about), trusted)
        if record is not None:
            self.record = record
        self.__dict__.pop("about", None)
        self.foreign_paths = tuple(path for path in self.foreign_paths if path not in trusted)
        return self

    def keep(self) -> None:
        """Add it to the history; a history that cannot be written gives a warning, never an error."""
        try:
            History().add(self.saved, self.structure, about=self.about, parts=self.parts)
        except WorkbenchError as error:
            warn_user(f"not added to the history: {error}")

    def _update_history(self) -> None:
        """Update the entry of this result, if the history has one."""
        try:
            History().update(self.saved, self.structure, about=self.about, parts=self.parts)
        except WorkbenchError as error:
            warn_user(f"the history was not updated: {error}")

    def _in_words(self) -> str:
        return str(self.record)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": data["text/plain"] + untrusted_note(self.foreign_paths)}, metadata


def packed(result: Result, *, weights: bool, notes: tuple[tuple[str, str], ...] = ()) -> bytes:
    """Return the bundle of a result, without paths of this machine."""
    record, structure, parts = result.saved, result.structure, result.parts
    if not weights:
        record, parts = _stripped(record), tuple(_stripped(part) for part in parts)
        structure = None if structure is None else _stripped(structure) or None
    return pack_record(
        record, structure, private=False, about=result.about, parts=parts, kinds=KINDS, notes=notes
    )


def _stripped(value: Any) -> Any:
    """Return a graph, or the record or part that holds one, without weights and texts of the author."""
    if isinstance(value, bytes):
        from workbench.core.models.sharing import shareable  # which imports onnx

        return shareable(value)
    if isinstance(value, Part):
        return replace(value, record=_stripped(value.record))
    graph = getattr(value, "graph", None)
    return replace(value, graph=_stripped(graph)) if isinstance(graph, bytes) else value


def run_of(runs: Iterable[Any], label: str) -> Any:
    """Return the run of this label."""
    by_label = {run.label: run for run in runs}
    if label not in by_label:
        raise ConfigError(f"there is no run {quoted(label)}", f"name one of {', '.join(by_label)}")
    return by_label[label]


def origin_of(
    model: Model | None,
    config: Config | None = None,
    inputs: Inputs | None = None,
    *,
    cancel: threading.Event | None = None,
) -> Origin:
    """Return the origin of a result made now on this machine. Reads the model once, for its hash."""
    other = config is not None and config.interpreter != sys.executable
    now = datetime.now(UTC)
    return Origin(
        new_id(now),
        now.isoformat(timespec="seconds"),
        None if model is None else model.record(cancel),
        config,
        None if inputs is None else inputs.record(),
        read_machine(),
        SoftwareVersions(
            workbench=__version__,
            python=python_version(),
            onnxruntime="that of another environment" if other else installed(*ORT_PACKAGES) or NOT_INSTALLED,
            onnx=installed("onnx") or NOT_INSTALLED,
            numpy=installed("numpy") or NOT_INSTALLED,
        ),
    )
