"""Minify the views' JavaScript and CSS with esbuild: `python -m workbench.drawing.canvas.build`.

The repository has the sources under `static/` and what travels with every widget under `static/built/`, so
only a change of the sources needs esbuild, from the path or through `npx`. `digests.json` says which source a
built file is made of.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

ESBUILD = "esbuild@0.28.2"
STATIC = Path(__file__).parent / "static"
BUILT = STATIC / "built"
DIGESTS = BUILT / "digests.json"


def minified(source: Path) -> str:
    """Return what esbuild makes of a file; names at its top level stay, since the files share them."""
    tool = [shutil.which("esbuild") or "", "--minify"]
    if not tool[0]:
        tool = ["npx", "--yes", ESBUILD, "--minify"]
    command = [*tool, "--charset=utf8", str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout


def digests() -> dict[str, list[str]]:
    """Return the digests of each source and of its built file."""
    names = sorted(path.name for path in STATIC.iterdir() if path.is_file())
    return {name: [_digest(STATIC / name), _digest(BUILT / name)] for name in names}


def build() -> None:
    """Write the built files and their digests."""
    BUILT.mkdir(exist_ok=True)
    for source in sorted(path for path in STATIC.iterdir() if path.is_file()):
        (BUILT / source.name).write_text(minified(source), encoding="utf-8", newline="\n")
    DIGESTS.write_text(json.dumps(digests(), indent=1) + "\n", encoding="utf-8", newline="\n")


def _digest(path: Path) -> str:
    text = path.read_text(encoding="utf-8")  # line ends of the checkout do not count
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    build()
