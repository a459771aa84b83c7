"""The built JavaScript is made of the sources, fits its budget, and runs."""

from __future__ import annotations

import json
import shutil

import pytest

from workbench.drawing.canvas.base import MOST_MODULE_BYTES, module, stylesheet
from workbench.drawing.canvas.build import BUILT, DIGESTS, STATIC, digests, minified

AGAIN = "run `python -m workbench.drawing.canvas.build` after a change of workbench/drawing/canvas/static"


def test_built_files_are_made_of_the_sources_as_they_are() -> None:
    assert json.loads(DIGESTS.read_text(encoding="utf-8")) == digests(), AGAIN
    names = {path.name for path in STATIC.iterdir() if path.is_file()}
    assert {path.name for path in BUILT.iterdir()} == {*names, DIGESTS.name}


@pytest.mark.skipif(shutil.which("esbuild") is None, reason="no esbuild here; digests are checked")
def test_esbuild_makes_the_same_files_again() -> None:
    for name in digests():
        assert minified(STATIC / name) == (BUILT / name).read_text(encoding="utf-8"), AGAIN


@pytest.mark.parametrize("name", ["flame", "graph"])
def test_a_module_is_small(name: str) -> None:
    assert len(module(name).encode()) < MOST_MODULE_BYTES
    assert len(stylesheet()) < 4_500
