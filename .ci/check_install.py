"""Run from anywhere: the imported package is the installed one, it works read-only, and has what it ships."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

COMMAND = "compare mobilenetv2 --b level=disabled --budget 4 --quiet"


def main(checkout: str) -> None:
    import sample_models
    import workbench as wb
    from workbench.apps.cli.notebooks import shipped_folder

    for module in (wb, sample_models):
        place = Path(module.__file__ or "").resolve()
        assert "site-packages" in place.parts, f"{place} is not an installed package"
    assert not str(shipped_folder()).startswith(str(Path(checkout, "notebooks")))
    assert list(shipped_folder().glob("*.ipynb"))
    assert len(wb.samples()) > 0
    builds = [item for item in ("onnxruntime", "onnxruntime-gpu") if installed(item)]
    assert len(builds) == 1, f"both builds of ONNX Runtime are installed: {builds}"

    listed = [sys.executable, "-m", "jupyter", "server", "extension", "list"]
    told = subprocess.run(listed, capture_output=True, text=True, check=True)
    assert re.search(r"workbench\.apps\.server\b.*OK", told.stdout + told.stderr), (
        "Jupyter Server does not load us"
    )

    folder = Path(wb.__file__ or "").parent
    before = files(folder)
    modes = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")] if path.is_dir()}
    try:
        for path in modes:
            path.chmod(0o555)
        with tempfile.TemporaryDirectory() as home:
            subprocess.run(
                [sys.executable, "-m", "workbench", *COMMAND.split(), "-o", str(Path(home, "one.ortbench"))],
                env={**os.environ, "WORKBENCH_HOME": home},
                cwd=home,
                check=True,
            )
            assert Path(home, "one.ortbench").stat().st_size > 0
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
    assert files(folder) == before, "the installed package was written to"
    print(f"installed: workbench {wb.__version__} with {builds[0]}, {len(wb.samples())} samples")


def files(folder: Path) -> set[Path]:
    """Byte code aside: Python itself writes that where it may."""
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}


def installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1])
