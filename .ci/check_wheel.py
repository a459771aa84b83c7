"""The sdist and the wheel hold what they should and nothing else, and their metadata can be published.

`python .ci/check_wheel.py [--tag v0.1.0] dist/*`
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

LAB_EXTENSION = "share/jupyter/labextensions/ort-workbench-tour"
SHARED = {
    "etc/jupyter/jupyter_server_config.d/ort-workbench.json",  # so that Jupyter Server loads us
    f"{LAB_EXTENSION}/package.json",  # the tour's card, and still pictures that fit their cell
    f"{LAB_EXTENSION}/static/remoteEntry.js",
}
# The views' JavaScript travels minified, in static/built.
ONLY_IN_SDIST = re.compile(r"workbench/drawing/canvas/(static/[^/]+|build\.py)")
# 1.3 MB are Python, 1.0 MB four trained samples (`sample_models.packed_weights`), 0.5 MB recorded results,
# 0.4 MB packed skeletons, 0.3 MB speedscope, 0.2 MB the zip itself.
MOST_MB = 4.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="the tag that names this version")
    parser.add_argument("files", nargs=2, type=Path, help="the sdist and the wheel")
    arguments = parser.parse_args()
    wheel, sdist = sorted(arguments.files, key=lambda path: path.suffix != ".whl")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], check=True)
    check_wheel(wheel)
    check_sdist(sdist)
    told = metadata_of_wheel(wheel)
    check_metadata(told)
    assert str(told) == str(metadata_of_sdist(sdist)), "the sdist and the wheel say different things"
    version = told["Version"]
    assert arguments.tag in (None, f"v{version}"), f"the tag {arguments.tag} is not of version {version}"


def check_wheel(wheel: Path) -> None:
    """Hold its names against those that git tracks, and its size against the limit."""
    names = set(zipfile.ZipFile(wheel).namelist())
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name and ".data/" not in name}
    assert top == {"workbench", "sample_models"}, f"the wheel installs {sorted(top)}"
    data = {name.partition(".data/data/")[2] for name in names if ".data/" in name}
    assert data == SHARED, f"beside the packages the wheel installs {sorted(data)}"
    wanted = {
        f"workbench/_{name}" if name.startswith("notebooks/") else name
        for name in tracked("workbench", "sample_models", "notebooks")
        if not ONLY_IN_SDIST.fullmatch(name)
    }
    missing = sorted(wanted - names)
    assert not missing, f"the wheel lacks {missing}"
    sources = sorted(filter(ONLY_IN_SDIST.fullmatch, names))
    assert not sources, f"the wheel has {sources}"
    size_mb = wheel.stat().st_size / 1e6
    assert size_mb <= MOST_MB, f"the wheel has {size_mb:.2f} MB, more than {MOST_MB}"
    print(f"{wheel.name}: {size_mb:.2f} MB, {len(wanted)} files as tracked")


def check_sdist(sdist: Path) -> None:
    """Hold its names against all that git tracks: tests and docs are in it, and nothing that is ignored."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()} - {"PKG-INFO"}
    difference = sorted(names ^ set(tracked()))
    assert not difference, f"the sdist and git differ in {difference}"
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, {len(names)} files as tracked")


def check_metadata(told: Message) -> None:
    """Check what an index shows, and that nothing is installed from an address."""
    assert told["Name"] == "ort-workbench"
    assert told["License-Expression"] == "MIT AND OFL-1.1"
    assert told["Requires-Python"] == ">=3.11"
    assert told["Description-Content-Type"] == "text/markdown"
    assert told.get_payload().startswith("# ONNX Runtime Tuning Workbench")  # type: ignore[union-attr]
    addresses = [text for text in told.get_all("Requires-Dist") or () if "://" in text or " @ " in text]
    assert not addresses, f"installed from an address: {addresses}"


def metadata_of_wheel(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def metadata_of_sdist(sdist: Path) -> Message:
    with tarfile.open(sdist) as archive:
        (name,) = (name for name in archive.getnames() if name.count("/") == 1 and name.endswith("/PKG-INFO"))
        text = archive.extractfile(name)
        assert text is not None
        return message_from_bytes(text.read())


def tracked(*folders: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", *folders], capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


if __name__ == "__main__":
    main()
