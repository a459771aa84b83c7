"""What axe-core finds fault with; its script comes with a test dependency and is only injected."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
ANY = ("minor", "moderate", *SERIOUS)
# The body of JupyterLab has no height and hides what overflows it: axe then takes everything for invisible.
RUN = """async within => {
  const before = document.body.style.height;
  document.body.style.height = '100vh';
  try { return await axe.run({include: [within]}, {resultTypes: ['violations']}); }
  finally { document.body.style.height = before; }
}"""


@dataclass(frozen=True)
class Fault:
    """One element that a rule of axe's is broken by."""

    rule: str
    impact: str
    element: str
    why: str


def faults(page: Page, within: str, impacts: tuple[str, ...] = SERIOUS) -> list[Fault]:
    """Return the faults of these impacts in what a selector names, in all its frames.

    Left out is the known one of ipywidgets' sliders, whose handles have no label: each of ours stands beside
    a number box that says the same.
    """
    if not page.evaluate("() => 'axe' in window"):
        script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        page.evaluate(f"() => {{ {script}; }}")
    answer = page.evaluate(RUN, within)
    all_faults = [
        Fault(rule["id"], rule["impact"], node["html"], node["failureSummary"])
        for rule in answer["violations"]
        if rule["impact"] in impacts
        for node in rule["nodes"]
    ]
    return [fault for fault in all_faults if not _known(fault)]


def _known(fault: Fault) -> bool:
    return fault.rule == "aria-input-field-name" and "noUi-handle" in fault.element
