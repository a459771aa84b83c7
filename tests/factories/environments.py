"""Environments that have the packages that a test names, as far as their interpreter tells."""

from __future__ import annotations

import sys
from pathlib import Path


def environment(folder: Path, **versions: str) -> str:
    """Make the Python of an environment that has these packages alone; return its path."""
    (folder / "bin").mkdir(parents=True)
    for name, version in versions.items():
        info = folder / "packages" / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    python = folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder}/packages exec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    return str(python)
