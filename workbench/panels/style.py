"""The style sheet of the panels: JupyterLab's own colours, readable in its light and dark themes."""

from __future__ import annotations

from importlib import resources

from workbench.report.banner import STYLE as VERDICT

PANELS = resources.files(__package__).joinpath("static", "panels.css").read_text("utf-8")
STYLE = f"<style>{PANELS}\n{VERDICT}</style>"
