"""A feature that no other imports can be taken out: all else imports, commands are listed, panels open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_architecture import modules
from workbench.features import FEATURES

WITHOUT = """
import sys
from workbench.features import FEATURES
del FEATURES[{name!r}]
sys.modules[{folder!r}] = None  # an import of it fails
import workbench as wb
from workbench.apps.cli import parser
from workbench.features.base.registry import KINDS
assert [kind.name for kind in KINDS] == list(FEATURES)
parser().format_help()
bench = wb.Workbench()
bench.panels
assert {name!r} not in [offer.name for offer in KINDS.offers]
assert not [name for name, module in sys.modules.items() if module and name.startswith({folder!r})]
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


FOR_TYPES = {"workbench.features.findings.known"}
ALONE = [name for name in FEATURES if is_alone(name)]


def test_some_are_alone() -> None:
    assert "cold start" in ALONE
    assert len(ALONE) > 3


@pytest.mark.parametrize("name", ALONE)
def test_all_else_works_without_it(name: str) -> None:
    program = WITHOUT.format(name=name, folder=folder_of(name))
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path.cwd())
    assert ended.returncode == 0, ended.stderr[-1500:]
