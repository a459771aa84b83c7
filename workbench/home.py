"""Where our state lives: the platform's user folders, or below WORKBENCH_HOME when that is set."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """The folder of what must not be lost: the history."""
    return _folder("data")


def cache_folder() -> Path:
    """The folder of what can be made again: rehydrated samples, downloads, prepared models."""
    return _folder("cache")


def _folder(kind: str) -> Path:
    home = os.environ.get("WORKBENCH_HOME")
    if home:
        folder = Path(home).expanduser() / kind
    else:
        import platformdirs  # here, because `import workbench` must stay fast

        name = "ort-workbench"
        folder = Path(
            platformdirs.user_data_dir(name) if kind == "data" else platformdirs.user_cache_dir(name)
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder
