"""The wheel holds the package, every sample and every notebook, and nothing else at the top level."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

LAB_EXTENSION = "share/jupyter/labextensions/ort-workbench-tour"
SHARED = {
    "etc/jupyter/jupyter_server_config.d/ort-workbench.json",  # so that Jupyter Server loads us
    f"{LAB_EXTENSION}/package.json",  # the tour's card, and still pictures that fit their cell
    f"{LAB_EXTENSION}/static/remoteEntry.js",
}


def main(wheel: str) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name and ".data/" not in name}
    assert top == {"workbench", "sample_models"}, f"the wheel installs {sorted(top)}"
    data = {name.partition(".data/data/")[2] for name in names if ".data/" in name}
    assert data == SHARED, f"beside the packages the wheel installs {sorted(data)}"
    tracked = subprocess.run(
        ["git", "ls-files", "workbench", "sample_models", "notebooks"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    wanted = {f"workbench/_{name}" if name.startswith("notebooks/") else name for name in tracked}
    missing = sorted(wanted - names)
    assert not missing, f"the wheel lacks {missing}"
    size = Path(wheel).stat().st_size / 1e6
    print(f"{Path(wheel).name}: {size:.1f} MB, {len(wanted)} files as tracked")


if __name__ == "__main__":
    main(sys.argv[1])
