"""Views in a page without a kernel: the same JavaScript with a small stand-in for the widget's model.

A page holds `fragment(view)` for each view and, after the last of them, `scripts(views)` once. It needs no
network and no more than `script-src 'unsafe-inline'; style-src 'unsafe-inline'`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from typing import Any

from workbench.drawing.canvas.base import View, javascript, stylesheet


def fragment(view: View, linked: str = "") -> str:
    """Return the HTML of a view and its data. Views with the same `linked` share their selection."""
    return (
        f'<div class="wbv-place" data-view="{escape(view.script)}" data-linked="{escape(linked)}">'
        f'<script type="application/json">{_json(view.state())}</script>'
        f'<script type="text/plain">{b64encode(view.columns).decode("ascii")}</script>'
        f"</div>\n"
    )


def scripts(views: Iterable[View]) -> str:
    """Return the code of all views, each kind once; it starts every fragment above it."""
    kinds = dict.fromkeys(view.script for view in views)
    made = "".join(
        f"views[{json.dumps(kind)}] = (() => {{\n{javascript(kind)}\nreturn render;\n}})();\n"
        for kind in kinds
    )
    text = f"{javascript('common')}\nconst views = {{}};\n{made}{javascript('page')}"
    code = f'(() => {{\n"use strict";\n{_in_script(text)}\n}})();'
    return f"<style>{stylesheet()}</style>\n<script>\n{code}\n</script>\n"


def _json(data: Any) -> str:
    """Return JSON that cannot end the script or begin a comment."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _in_script(text: str) -> str:
    lowered = text.casefold()
    if "</script" in lowered or "<!--" in lowered:
        raise ValueError("our own JavaScript must hold neither '</script' nor '<!--'")
    return text
