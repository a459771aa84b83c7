"""A caught session as the workbench takes it: a model, a config, and inputs that were kept as files."""

from __future__ import annotations

import hashlib
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from workbench.core import home
from workbench.core.bundle.display import config_in_words
from workbench.core.caught.catching import Catcher, Feed, SeenSession, catching
from workbench.core.config import Config
from workbench.core.errors import InputError, RunFailed, WorkbenchError
from workbench.core.stored_files import StoredFile, expanded, trim
from workbench.core.text import counted, listed, path_text, shorten
from workbench.core.worker.folder import WorkerFolder


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


def run_script(script: str | os.PathLike[str], arguments: Sequence[str] = ()) -> tuple[CaughtSession, ...]:
    """Run the script to its end, with what it prints on standard error, and return its sessions."""
    path = expanded(script)
    if not path.is_file():
        raise InputError(f"{path_text(path)} is no file", "give the path of a Python script")
    with WorkerFolder() as folder:
        answer = folder / "sessions.json"
        command = [sys.executable, "-m", __name__, str(answer), str(path), *arguments]
        code = subprocess.run(command, stdout=2, check=False).returncode
        if code:
            raise RunFailed(
                f"{path_text(path)} ended with exit code {code}",
                "see what it printed above: it must run by itself in the workbench's environment",
            )
        return tuple(map(CaughtSession.from_json, json.loads(answer.read_text("utf-8"))))


def main(answer: str, script: str, *arguments: str) -> None:
    """Run the script as a program, then write what was caught."""
    own_path, sys.argv = list(sys.path), [script, *arguments]
    sys.path[0] = str(Path(script).absolute().parent)
    with catching() as catcher:
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.path[:] = own_path
    Path(answer).write_text(json.dumps([session.to_json() for session in caught_sessions(catcher)]), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
