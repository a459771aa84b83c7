"""Each feature can be taken out of the list: all else imports, commands are listed, panels open.

What no other feature imports is taken out with its folder, or with its module where others share the folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_architecture import modules
from workbench.features import FEATURES

FOR_TYPES = {"workbench.features.findings.known"}
PAGES = {"findings": "Improve", "improvement": "Improve"}  # the page that only these two fill
SCRIPTS = "workbench.features.deploy.serving"  # of a deployment: they run without the workbench
WITHOUT_EACH = """
import importlib, json, os, sys
import anywidget, IPython, ipywidgets, nbformat, numpy, onnx, pandas, PIL.Image, plotly.graph_objects
assert not [name for name in sys.modules if name.startswith("workbench")]

def use_without(name, place, page):
    from workbench.features import FEATURES
    del FEATURES[name]
    if place:
        sys.modules[place] = None  # an import of it fails
        for module in MODULES:
            if not f"{module}.".startswith(f"{place}."):
                importlib.import_module(module)
    import workbench as wb
    from workbench.apps.cli import parser
    from workbench.features.base.registry import KINDS
    assert [kind.name for kind in KINDS] == list(FEATURES)
    assert all(callable(kind.function) for kind in KINDS if kind.call)
    assert name not in [offer.name for offer in (*KINDS.offers, *KINDS.commands)]
    parser().format_help()
    bench = wb.Workbench()
    results = bench.panels.results
    for title in results.places:
        if title != page:
            results.turn(title)
    assert not bench.state.bug

MODULES = json.loads(sys.argv[2])
for name, place, page in json.loads(sys.argv[1]):
    child = os.fork()  # what others wrote is imported once, ours in each
    if not child:
        use_without(name, place, page)
        sys.exit()
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{name!r} is needed by something else")
"""


def folder_of(name: str) -> str:
    return ".".join(FEATURES[name].split(".")[:3])


def place_of(name: str) -> str:
    """Return the folder of a feature, or its module where others share the folder."""
    folder = folder_of(name)
    is_shared = [folder_of(feature) for feature in FEATURES].count(folder) > 1
    return FEATURES[name] if is_shared else folder


def lies_in(module: str, place: str) -> bool:
    return f"{module}.".startswith(f"{place}.")


def is_alone(name: str) -> bool:
    """Return whether no other feature imports it, but for type checkers."""
    place = place_of(name)
    importers = {
        module
        for module, found in modules().items()
        if lies_in(module, "workbench.features") and not lies_in(module, place)
        for imported in found.imports
        if lies_in(imported, place)
    }
    return importers <= FOR_TYPES


@pytest.mark.slow
def test_features_that_share_a_folder_may_be_alone_in_their_module() -> None:
    alone = {name for name in FEATURES if is_alone(name)}
    assert {"cold start", "levels", "thread scaling", "memory settings"} <= alone
    assert not {"comparison", "explanation", "findings", "profile"} & alone


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_all_else_works_without_each() -> None:
    taken_out = [(name, place_of(name) if is_alone(name) else "", PAGES.get(name)) for name in FEATURES]
    of_features = [
        name for name in modules() if lies_in(name, "workbench.features") and not lies_in(name, SCRIPTS)
    ]
    command = [sys.executable, "-c", WITHOUT_EACH, json.dumps(taken_out), json.dumps(of_features)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd())
    assert ended.returncode == 0, ended.stderr[-1500:]
