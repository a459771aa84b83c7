"""What every result can do: say its numbers, draw itself, be a cell's value, be saved, be exported."""

from __future__ import annotations

import os
import threading
import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.config.foreign import ForeignPath
from workbench.errors import ConfigError, WorkbenchError
from workbench.records.bundle import write_bundle
from workbench.records.history import History
from workbench.records.kinds import Part
from workbench.records.origin import Origin
from workbench.records.trust import untrusted_note, with_trust
from workbench.results.origin import origin_of
from workbench.results.registry import KINDS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene


class Result:
    """A record with its figures. `about` says whose it is: model, machine, versions, when."""

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

    @cached_property
    def about(self) -> Origin:
        """Made by hand, it is of now, of this machine and of no model."""
        own = KINDS.of(self.saved, "").about
        if own is not None:
            return own(self.saved)
        return self._about if self._about is not None else origin_of(None)

    @property
    def saved(self) -> Any:
        """The record as a bundle holds it."""
        return self.record

    def to_frame(self) -> Any:
        """The result as a table."""
        return self.record.to_frame()

    def figure(self) -> go.Figure | None:
        """Its figure; None where it is not one figure."""
        return None

    def still(self) -> Scene:
        """Its picture without a browser."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a bundle that `wb.open` reads anywhere, without the model and without ONNX Runtime."""
        return write_bundle(
            self.saved, path, structure=self.structure, about=self.about, parts=self.parts, kinds=KINDS
        )

    def export_html(self, path: str | os.PathLike[str], *, cancel: threading.Event | None = None) -> Path:
        """Write it as one HTML file that opens offline, with live figures and views, and asks for nothing."""
        from workbench.report.exporting import export_html

        return export_html(self, path, cancel=cancel)

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
        self.foreign_paths = tuple(path for path in self.foreign_paths if path not in trusted)
        self.parts = with_trust(self.parts, trusted)
        self._about = with_trust(self._about, trusted)
        self.__dict__.pop("about", None)
        if "record" in self.__dict__:
            self.record = with_trust(self.record, trusted)
        return self

    def keep(self) -> None:
        """Add it to the history. One that cannot be written must not cost the user the result."""
        try:
            kept_history().add(self.saved, self.structure, about=self.about, parts=self.parts)
        except WorkbenchError as error:
            warnings.warn(f"not added to the history: {error}", stacklevel=4)

    def __str__(self) -> str:
        return str(self.record)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Numbers in words, a picture that survives sharing, a live figure; never HTML."""
        from workbench.figures.cell import as_cell

        return as_cell(str(self) + untrusted_note(self.foreign_paths), self.still(), self.figure())


def kept_history() -> History:
    """The history of this machine, with every kind of record."""
    found = History()
    found.kinds = KINDS
    return found
