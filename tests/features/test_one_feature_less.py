"""A feature that no other imports can be taken out: all else imports, commands are listed, panels open."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_architecture import modules
from workbench.features import FEATURES

FOR_TYPES = {"workbench.features.findings.known"}
WITHOUT_EACH = """
import json, os, sys
import anywidget, IPython, ipywidgets, nbformat, numpy, onnx, pandas, PIL.Image, plotly.graph_objects
assert not [name for name in sys.modules if name.startswith("workbench")]

def use_without(name, folder):
    from workbench.features import FEATURES
    del FEATURES[name]
    sys.modules[folder] = None  # an import of it fails
    import workbench as wb
    from workbench.apps.cli import parser
    from workbench.features.base.registry import KINDS
    assert [kind.name for kind in KINDS] == list(FEATURES)
    parser().format_help()
    bench = wb.Workbench()
    bench.panels
    assert name not in [offer.name for offer in KINDS.offers]
    assert not [name for name, module in sys.modules.items() if module and name.startswith(folder)]

for name, folder in json.loads(sys.argv[1]).items():
    child = os.fork()  # what others wrote is imported once, ours in each
    if not child:
        use_without(name, folder)
        sys.exit()
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{name!r} is needed by something else")
"""


def folder_of(name: str) -> str:
    return ".".join(FEATURES[name].split(".")[:3])


def is_alone(name: str) -> bool:
    """Return whether no other feature imports it, but for type checkers."""
    folder = folder_of(name)
    shared = [feature for feature in FEATURES if folder_of(feature) == folder]
    importers = {
        module
        for module, found in modules().items()
        if module.startswith("workbench.features.") and not module.startswith(folder)
        for imported in found.imports
        if imported.startswith(folder)
    }
    return len(shared) == 1 and importers <= FOR_TYPES


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_all_else_works_without_each_that_is_alone() -> None:
    alone = {name: folder_of(name) for name in FEATURES if is_alone(name)}
    assert "cold start" in alone
    assert len(alone) > 3
    command = [sys.executable, "-c", WITHOUT_EACH, json.dumps(alone)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd())
    assert ended.returncode == 0, ended.stderr[-1500:]
