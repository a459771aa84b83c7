"""The files of a model while it is tuned: rounds of two versions must not be mixed."""

from __future__ import annotations

from workbench.core.errors import ModelError
from workbench.core.models import Model
from workbench.core.text import shorten


class FileWatch:
    """The size and the time of each file of a model, as they were at the start."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._files = (model.path, *(model.path.parent / file.name for file in model.external))
        self._before = self._state()

    def check(self) -> None:
        """Raise ModelError if a file changed or is gone."""
        if self._state() != self._before:
            raise ModelError(
                f"{shorten(self._model.name)} changed while it was tuned",
                "start again with the file as it is now; the rounds measured before are in the history",
            )

    def _state(self) -> tuple[tuple[int, int], ...] | None:
        try:
            states = [file.stat() for file in self._files]
        except OSError:
            return None
        return tuple((state.st_size, state.st_mtime_ns) for state in states)
