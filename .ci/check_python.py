"""Run from anywhere: one real profile, comparison and page, with the installed package."""

from __future__ import annotations

import os
import platform
import tempfile
import warnings
from importlib import metadata
from pathlib import Path

SHOWN = ("numpy", "pandas", "onnx", "plotly", "ipywidgets", "huggingface_hub")


def main() -> None:
    warnings.filterwarnings("error", category=DeprecationWarning, module=r"workbench\.")
    with tempfile.TemporaryDirectory() as home:
        os.environ["WORKBENCH_HOME"] = home
        measure(Path(home))
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in SHOWN)
    print(f"measured: Python {platform.python_version()} with {versions}")


def measure(folder: Path) -> None:
    import workbench as wb

    assert "site-packages" in Path(wb.__file__ or "").parts, f"{wb.__file__} is not an installed package"
    profile = wb.profile("digits-conv")
    comparison = wb.compare(
        "digits-conv", wb.Config(), wb.Config(level="disabled"), budget_s=4, progress=False
    )
    assert len(profile.to_frame()) > 0
    for result in (profile, comparison):
        saved = result.save(folder / f"{type(result).__name__}.ortbench")
        again = wb.open(saved)
        assert again.to_frame().equals(result.to_frame()), f"{saved.name} holds something else"
        page = again.export_html(saved.with_suffix(".html"))
        assert "digits-conv" in page.read_text(encoding="utf-8"), f"{page.name} does not name the model"


if __name__ == "__main__":
    main()
