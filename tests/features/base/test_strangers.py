"""Every text of a bundle is a stranger's: no cell, figure, picture, view or page takes one for markup."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from tests.factories.results import every_kind
from tests.features.base.strangers import (
    ESCAPE,
    FOR_PLOTLY,
    GOLDEN,
    NAMELESS,
    NAMELESS_FIGURES,
    Taken,
    poisoned,
    stranger_s,
    texts_of,
)
from workbench.core.errors import WorkbenchError
from workbench.drawing.canvas.base import View
from workbench.drawing.canvas.standalone import fragment
from workbench.drawing.cell import PLOTLY
from workbench.drawing.scene import Scene
from workbench.features.base.registry import KINDS

NOT_CALLED = {
    "keep",
    "examine",
    "attach",
    "save",
    "export_html",
    "feature",
}  # the last holds no text of a file
MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
DEPTH = 4
OFTEN = ("comparison-2", "explanation-2", "profile-2")  # have figures, views and tables of every sort


def shown(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """All that can be shown of a result: (where it is from, "html" or "plotly", the text)."""
    if isinstance(value, go.Figure):
        yield name, "plotly", value.to_json()
    elif isinstance(value, Scene):
        yield name, "html", value.to_svg()
    elif isinstance(value, View):
        yield name, "html", fragment(value)
        yield name, "html", value.still().to_svg()
    elif isinstance(value, str) and name.endswith("html"):
        yield name, "html", value
    elif isinstance(value, tuple | list):
        for item in value[:2]:
            yield from shown(item, f"{name}[]", depth)
    elif type(value).__module__.startswith("workbench") and depth < DEPTH:
        yield from _of_cell(value, name)
        for method in (name for name in dir(type(value)) if not name.startswith("_")):
            if method not in NOT_CALLED:
                yield from shown(_asked(value, method), f"{name}.{method}", depth + 1)


def _of_cell(value: Any, name: str) -> Iterator[tuple[str, str, str]]:
    if hasattr(value, "_repr_mimebundle_"):
        for mime, data in value._repr_mimebundle_()[0].items():
            if "plotly" in mime:
                yield f"{name} as a cell", "plotly", json.dumps(data)
            elif mime in ("text/html", "image/svg+xml"):
                yield f"{name} as a cell", "html", data
    elif hasattr(value, "_repr_html_"):
        yield f"{name} as a cell", "html", value._repr_html_()


def _asked(value: Any, method: str) -> Any:
    """What a property or a method without arguments gives; None where it says that there is none."""
    try:
        member = getattr(value, method)
        if not callable(member):
            return member
        parameters = inspect.signature(member).parameters.values()
        needed = [
            parameter
            for parameter in parameters
            if parameter.default is parameter.empty and parameter.kind not in MANY
        ]
        return None if needed else member()
    except WorkbenchError:
        return None


def assert_texts_stay_texts(name: str, kind: str, text: str) -> None:
    if kind == "html":
        assert Taken(text).found == [], name
    else:
        read = [mark for part in texts_of(json.loads(text)) for mark in FOR_PLOTLY if mark in part]
        assert read == [], name


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("kind", every_kind())
def test_no_cell_figure_or_picture_obeys_a_text(kind: str) -> None:
    """Of an example whose every text is an attempt; its page is opened in test_page."""
    opened = stranger_s(every_kind()[kind])
    (cell, _), still = opened._repr_mimebundle_(), opened.still().to_svg()
    figure = json.dumps(cell.get(PLOTLY))
    for text in (str(opened), repr(opened), cell["text/plain"]):
        assert text.replace("\n", "").isprintable()
    assert ascii(ESCAPE)[1:-1] in str(opened) or kind in NAMELESS
    assert_texts_stay_texts("still", "html", still)
    assert "window.hacked" in figure or kind in NAMELESS_FIGURES
    assert_texts_stay_texts("figure", "plotly", figure)
    for shown in (opened.saved, *getattr(opened.saved, "runs", ())):
        if hasattr(shown, "_repr_html_"):
            assert_texts_stay_texts("record", "html", shown._repr_html_())


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.usefixtures("coarse", "without_plotly")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in OFTEN else pytest.mark.release)
        for path in GOLDEN
    ],
)
def test_no_text_is_taken_for_markup(path: Path) -> None:
    bundle, _ = poisoned(path)
    result = KINDS.result(bundle)
    texts = [*shown(result, bundle.kind), ("the page", "html", result.page_html())]
    assert any("onerror=window.hacked" in text for _, _, text in texts), "the attempts are there to be seen"
    for (kind, text), name in {(kind, text): name for name, kind, text in texts}.items():
        assert_texts_stay_texts(name, kind, text)
