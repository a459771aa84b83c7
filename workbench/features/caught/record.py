"""A caught session as the workbench takes it: a model, a config, and inputs that were kept as files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from workbench.core import home
from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.stored_files import StoredFile, trim
from workbench.core.text import counted, listed, shorten
from workbench.features.caught.catching import Catcher, Feed, SeenSession


@dataclass(frozen=True, slots=True)
class CaughtSession:
    """A session of the user's code, and what of it is not known."""

    model: str | None  # path of the file; None if it cannot be known
    config: Config
    inputs: str | None  # folder with an .npz for each feed; None: there are none
    run_count: int
    feed_count: int
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The model's file name."""
        return "a model that is not known" if self.model is None else shorten(Path(self.model).name)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold of the session."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {**values, "config": self.config.to_dict()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CaughtSession:
        """Return the session of `to_json`."""
        return cls(**{**data, "config": Config.from_dict(data["config"]), "notes": tuple(data["notes"])})

    def __str__(self) -> str:
        ran = f"{counted(self.run_count, 'run')}, {counted(self.feed_count, 'feed')} kept"
        return "; ".join([f"{self.name}: {ran}; {config_in_words(self.config)}", *self.notes])


def caught_sessions(catcher: Catcher) -> tuple[CaughtSession, ...]:
    """Return the sessions that were caught; their feeds, and models given as bytes, are kept as files."""
    calls = f"not read back: what SessionOptions.{listed(sorted(catcher.calls))} set" if catcher.calls else ""
    return tuple(_caught(watched, [calls] if calls else []) for watched in catcher.seen)


def _caught(watched: SeenSession, notes: list[str]) -> CaughtSession:
    model, inputs, notes = None, None, [*watched.problems, *notes]
    try:
        model = watched.source if isinstance(watched.source, str) else _kept_model(watched.source)
        inputs = _kept_feeds(watched.feeds) if watched.feeds else None
    except WorkbenchError as error:
        notes.append(error.problem)
    except OSError as error:
        notes.append(f"its feeds cannot be kept: {error.strerror or error}")
    if not watched.run_count:
        notes.append("it never ran, so its inputs are guessed")
    elif inputs is None:
        notes.append(
            f"its inputs are guessed: its feeds are not known ({watched.unread or 'too large to keep'})"
        )
    elif watched.cut or watched.unread:
        notes.append("of its further runs no feeds were kept")
    count = len(watched.feeds) if inputs else 0
    return CaughtSession(model, watched.config, inputs, watched.run_count, count, tuple(notes))


def _kept_model(content: bytes) -> str | None:
    from workbench.core.models import load  # and onnx with it

    return str(load(content).path) if content else None


def _kept_feeds(feeds: Mapping[str, Feed]) -> str:
    """Write the feeds into the folder that is theirs by their hashes, and return it."""
    from workbench.core.models.inputs import write_npz

    store = home.cache_folder() / "caught"
    folder = store / hashlib.sha256("".join(feeds).encode()).hexdigest()[:16]
    if not folder.exists():
        store.mkdir(parents=True, exist_ok=True)
        made = Path(mkdtemp(prefix=".", dir=store))
        for number, feed in enumerate(feeds.values()):
            write_npz(made / f"{number}.npz", feed)
        try:
            made.rename(folder)
        except OSError:
            StoredFile(made, 0, 0.0).remove()
            if not folder.exists():  # else another process was quicker
                raise
        trim(store)
    return str(folder)
