"""A JupyterLab started by `workbench lab`, with a home, a configuration and notebooks of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat

SETTINGS = {
    "@jupyterlab/apputils-extension/themes": {"adaptive-theme": True},  # light or dark as the page prefers
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},  # cells out of sight are there too
}


@dataclass(frozen=True)
class Lab:
    """The address of the server, its token and its notebooks; requests that need no browser."""

    base: str  # with the base URL, ending in a slash
    token: str
    folder: Path
    log: Path

    def url(self, path: str = "lab") -> str:
        """Return an address that logs in."""
        return f"{self.base}{path}{'&' if '?' in path else '?'}token={self.token}"

    def ask(self, path: str, method: str = "GET") -> Any:
        """Return the answer of the server's REST interface."""
        request = urllib.request.Request(
            self.base + path, method=method, headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def write(self, name: str, *sources: str) -> str:
        """Write a notebook of these code cells; return its name."""
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(book, self.folder / name)
        return name

    def read(self, name: str) -> nbformat.NotebookNode:
        """Return a notebook as it is saved now."""
        return nbformat.read(self.folder / name, as_version=4)

    def stop_kernels(self) -> None:
        for session in self.ask("api/sessions"):
            self.ask(f"api/sessions/{session['id']}", "DELETE")
        for kernel in self.ask("api/kernels"):
            self.ask(f"api/kernels/{kernel['id']}", "DELETE")


@contextmanager
def started_lab(
    place: Path, *arguments: str, config: Mapping[str, Mapping[str, object]] | None = None
) -> Iterator[Lab]:
    """Start `workbench lab` from an unrelated folder; `config` is the user's configuration."""
    folder, cwd, log = place / "notebooks", place / "elsewhere", place / "server.log"
    cwd.mkdir(parents=True)
    environment = {
        **os.environ,
        **{f"JUPYTER_{kind}_DIR": str(place / kind.lower()) for kind in ("RUNTIME", "CONFIG", "DATA")},
    }
    _configure(place / "config", config or {})
    command = [sys.executable, "-m", "workbench", "lab", "--no-browser", "--port", "0"]
    command += ["--folder", str(folder), *arguments]
    with (
        log.open("wb") as errors,  # not a pipe: unread, it would fill and the server would stand still
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            cwd=cwd,
            text=True,
            start_new_session=True,  # Ctrl-C is for pytest alone
        ) as server,
    ):
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            assert line.startswith("Open http://127.0.0.1:"), log.read_text()
            address = urlsplit(line.removeprefix("Open ").strip())
            base = f"{address.scheme}://{address.netloc}{address.path.partition('lab')[0]}"
            yield Lab(base, address.query.removeprefix("token="), folder, log)
        finally:
            server.terminate()
        assert server.wait() == 0, log.read_text()


def _configure(folder: Path, config: Mapping[str, Mapping[str, object]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jupyter_lab_config.json").write_text(json.dumps({"LabApp": {"expose_app_in_browser": True}}))
    (folder / "jupyter_server_config.json").write_text(json.dumps(config))
    for plugin, values in SETTINGS.items():
        file = folder / "lab" / "user-settings" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
