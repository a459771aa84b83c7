"""The base of the views: a class has one ES module, its data are a header and a block of columns."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets as t

if TYPE_CHECKING or find_spec("anywidget"):
    from anywidget import AnyWidget as Widget
else:
    from traitlets import HasTraits as Widget  # where results are only read: pages and pictures, nothing live

MOST_MODULE_BYTES = 50_000  # anywidget sends the module with every instance
_PARTS = {"graph": ("layout", "column", "panes", "drawing")}  # files that a view needs besides its own


@cache
def javascript(name: str) -> str:
    """Return a built file, which defines functions and exports nothing, after the files it needs."""
    return "".join(_built(f"{part}.js") for part in (*_PARTS.get(name, ()), name))


@cache
def module(name: str) -> str:
    """Return the shared part and the part of a view as one ES module."""
    return f"{javascript('common')}{javascript(name)}export default {{ render }};\n"


@cache
def stylesheet() -> str:
    """Return the style sheet of all views."""
    return _built("common.css")


def _built(name: str) -> str:
    """Return a file that `workbench.drawing.canvas.build` made of the one under `static/`."""
    path = files("workbench.drawing.canvas").joinpath("static", "built", name)
    return path.read_text(encoding="utf-8")


class View(Widget):
    """A canvas with data from Python. `selected` holds node names and is meant to be linked between views.

    A subclass names its file under `static/` and gives `still()` and `__str__`.
    """

    script: ClassVar[str]
    _esm: ClassVar[str]
    _css: ClassVar[str] = stylesheet()

    header = t.Unicode("{}").tag(sync=True)  # JSON: texts, and where the columns stand
    columns = t.Bytes(b"").tag(sync=True)  # numbers, see `columns.py`
    selected = t.Tuple().tag(sync=True)
    search = t.Unicode("").tag(sync=True)
    badges = t.Dict().tag(sync=True)  # name of a node → what findings say about it
    height_px = t.Int(520).tag(sync=True)
    # PNG of what the browser shows, after `ask_picture`; it arrives as a memoryview
    picture = t.Bytes(b"").tag(sync=True, from_json=lambda value, _: bytes(value))
    asked = t.Int(0).tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "script" in cls.__dict__:
            cls._esm = module(cls.script)
        super().__init_subclass__(**kwargs)

    def __init__(self, header: Mapping[str, Any] | None = None, columns: bytes = b"", **traits: Any) -> None:
        text = json.dumps(header or {}, ensure_ascii=False, separators=(",", ":"))
        super().__init__(header=text, columns=columns, **traits)

    def ask_picture(self) -> None:
        """Ask the browser for a PNG of its current picture; `picture` changes when it comes."""
        self.asked += 1

    def still(self) -> Any:
        """Return the picture for places without a browser: a `Scene`."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return the traits that an exported page needs, without `columns`."""
        return {name: getattr(self, name) for name in (*_OWN, *self.own_state)}

    own_state: ClassVar[tuple[str, ...]] = ()  # further traits of a subclass that its page needs

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the live view, and a picture and a sentence for where it cannot run."""
        from ipywidgets import HTML, VBox

        picture = self.still().to_png()
        shown = HTML(_LACKING.format(b64encode(picture).decode("ascii"), escape(str(self))))
        box = VBox([self, shown.add_class("wbv-lacks")]).add_class("wbv-cell")
        widget = box._repr_mimebundle_(**kwargs) or {}
        return {**widget, "text/plain": str(self), "image/png": picture}


# Where JupyterLab lacks anywidget no view draws its root, .wbv: its picture is shown then, with the reason.
_LACKING = """<style>
.wbv-lacks {{ visibility: hidden; height: 0; margin: 0; overflow: hidden;
  animation: wbv-lacks 0s 4s forwards; }}
@keyframes wbv-lacks {{ to {{ visibility: visible; height: auto; }} }}
.wbv-cell:has(.wbv) > .wbv-lacks, .wbv-cell:not(:has(.wbv)) .jupyter-widgets-error-widget {{ display: none; }}
</style><p><b>This JupyterLab lacks anywidget</b>, so this is a picture. Where it runs:
<code>pip install anywidget</code>, then reload the page.</p>
<img src="data:image/png;base64,{}" alt="{}" style="max-width: 100%">"""
_OWN = ("header", "selected", "search", "badges", "height_px")
