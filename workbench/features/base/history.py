"""The history of this machine, whose entries open as results with their methods."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.entries import COLUMNS
from workbench.core.bundle.history import RecordHistory
from workbench.core.config import Config
from workbench.core.errors import BundleError, HistoryError
from workbench.features.base.folder import configs_of
from workbench.features.base.registry import KINDS

if TYPE_CHECKING:
    import pandas as pd

_FLOATS = ("ratio", "low", "high")


class History(RecordHistory):
    """The history file; `open` returns a result instead of its record."""

    kinds = KINDS

    def to_frame(
        self,
        model: str | None = None,
        kind: str | None = None,
        since: str | datetime | None = None,
        text: str | None = None,
        *,
        most: int | None = None,
        configs: bool = False,
    ) -> pd.DataFrame:
        """Return one row per result, newest first, at most `most`, filtered like `entries`.

        With `configs`, a column for each run says its config, `config_A`, `config_B`…; that opens every
        result.
        """
        import pandas as pd

        entries = self.entries(model, kind, since, text, most=most)
        frame = pd.DataFrame(entries, columns=COLUMNS).astype(dict.fromkeys(_FLOATS, "float64"))
        if not configs:
            return frame
        words = [
            {f"config_{label}": config_in_words(config) for label, config in self._configs(identity).items()}
            for identity in frame["id"]
        ]
        for column in sorted({column for row in words for column in row}):
            frame[column] = [row.get(column) for row in words]
        return frame

    def _configs(self, identity: str) -> dict[str, Config]:
        """Return the configs of an entry; none of a damaged one, which `open` explains."""
        try:
            return configs_of(self.bundle(identity).record)
        except (BundleError, HistoryError):  # the former of a file in a shared folder
            return {}

    def open(self, id_or_prefix: str) -> Any:
        """Return the result with this id, or with the only id that begins so."""
        return KINDS.result(self.bundle(id_or_prefix))
