"""A notebook that is open in JupyterLab, as a test handles it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness.lab import Lab

ERROR = ".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']"
OPEN = """name => {
  const context = window.jupyterapp?.shell.currentWidget?.context;
  return context?.isReady && context.path === name;
}"""
# The toolbar says "idle" before there is a kernel; the session knows better.
STATUS = """status => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.connectionStatus === 'connected' && kernel.status === status;
}"""


@dataclass(frozen=True)
class Book:
    """A notebook in the page's JupyterLab."""

    page: Page
    lab: Lab
    name: str

    def command(self, name: str, **arguments: object) -> Any:
        """A command of JupyterLab's, awaited."""
        return self.page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)",
            [name, arguments],
        )

    def turn(self, name: str) -> None:
        """Show another notebook of the server's folder beside this one."""
        self.command("docmanager:open", path=name)
        self.page.wait_for_function(OPEN, arg=name)

    def run_all(self) -> None:
        """Every cell, to its end; none may fail."""
        self.wait_for_kernel()
        self.command("notebook:run-all-cells")
        expect(self.page.locator(ERROR)).to_have_count(0)

    def wait_for_kernel(self, status: str = "idle") -> None:
        """Until this notebook's kernel is connected and `idle`, or `busy`."""
        self.page.wait_for_function(STATUS, arg=status)

    def cell(self, number: int) -> Locator:
        """The code cell of this number, from 0."""
        return self.page.locator(".jp-NotebookPanel .jp-CodeCell").nth(number)

    def output(self, number: int) -> Locator:
        """What is below that cell."""
        return self.cell(number).locator(".jp-Cell-outputArea")

    def save(self) -> None:
        self.command("docmanager:save")

    def restart_kernel(self) -> None:
        """As *Kernel > Restart* does, with its question answered."""
        self.lab.ask(f"api/kernels/{self._kernel()}/restart", "POST")

    def stop_kernel(self) -> None:
        """As *Kernel > Shut Down* does."""
        self.lab.ask(f"api/kernels/{self._kernel()}", "DELETE")

    def _kernel(self) -> str:
        session = next(session for session in self.lab.ask("api/sessions") if session["path"] == self.name)
        return str(session["kernel"]["id"])


def open_book(page: Page, lab: Lab, name: str) -> Book:
    """Open this notebook of the server's folder, alone in a fresh workspace, and wait until it is drawn."""
    page.goto(lab.url(f"lab/workspaces/{uuid4().hex}/tree/{quote(name)}"))
    page.wait_for_function(OPEN, arg=name)
    expect(page.locator(".jp-NotebookPanel .jp-Cell").first).to_be_visible()
    return Book(page, lab, name)
