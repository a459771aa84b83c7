"""One Chromium for all tests of a folder, and pages of it that log every request."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.conftest import find_browser

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# How long a condition may take to come true on a busy machine; shorter while one writes a test.
PATIENCE_MS = float(os.environ.get("WORKBENCH_PATIENCE_S", "200")) * 1e3
interrupted = threading.Event()  # by Ctrl-C, which ends Playwright's loop in this thread
LOCAL = {"data", "blob", "about", "chrome", "chrome-extension"}  # addresses that are no request
HARMLESS = (
    "reading 'processLuminoMessage'",  # JupyterLab's widgets: a box that was closed hears of a last resize
    "Comm not found for comm id",  # JupyterLab: the widget stands in another page of this kernel
    "net::ERR_CONNECTION_REFUSED",  # a page that is still open asks for a server that the test has ended
)
expect.set_options(timeout=PATIENCE_MS)


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Start the system's own Chromium, without a window."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited: Ctrl-C is for pytest alone
    play = sync_playwright().start()
    signal.signal(signal.SIGINT, before)
    browser = play.chromium.launch(executable_path=find_browser(), args=FLAGS, handle_sigint=False)
    yield browser
    if not interrupted.is_set():  # else Playwright's loop was ended; Chromium ends with its pipe
        browser.close()
        play.stop()


@dataclass
class Pages:
    """Opens pages and records their requests, what they threw and what they wrote as errors."""

    browser: Browser
    screenshots: Path
    asked: list[str] = field(default_factory=list)
    thrown: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)  # those that a page may ask, beside the fixtures' own
    provoked: list[str] = field(default_factory=list)  # words of errors that a test brings about
    contexts: list[BrowserContext] = field(default_factory=list)

    def open(
        self,
        url: str | None = None,
        *,
        width: int = 1400,
        height: int = 1000,
        theme: Literal["light", "dark"] = "light",
        scale: float = 1,
        offline: bool = False,
    ) -> Page:
        """Open a page in a profile of its own, so that no test sees another's storage or login."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            device_scale_factor=scale,
            accept_downloads=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_MS)
        context.set_offline(offline)
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("weberror", lambda error: self._hear(str(error.error)))
        context.on("console", self._read)
        self.contexts.append(context)
        page = context.new_page()
        page.on("websocket", lambda socket: self.asked.append(socket.url))
        if url is not None:
            page.goto(url)
        return page

    def _read(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._hear(f"{message.text} ({message.location['url']})")

    def _hear(self, error: str) -> None:
        """Record what a page threw or wrote as an error, unless that is known to be harmless."""
        if not any(words in error for words in (*HARMLESS, *self.provoked)):
            self.thrown.append(error)

    def strangers(self, *origins: str) -> list[str]:
        """Return the requests to other origins than these ("http://127.0.0.1:8888")."""
        own = {urlsplit(origin).netloc for origin in (*origins, *self.origins)}
        parts = [(url, urlsplit(url)) for url in self.asked]
        return [
            url
            for url, part in parts
            if part.scheme not in LOCAL and part.scheme != "file" and part.netloc not in own
        ]

    def picture(self, page: Page, name: str, within: str | None = None) -> Path:
        """Save a screenshot as $WORKBENCH_SCREENSHOTS/NAME.png."""
        path = self.screenshots / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}.png"
        if within is None:
            page.screenshot(path=path)
        else:
            page.locator(within).first.screenshot(path=path)
        return path

    def close(self) -> None:
        for context in self.contexts:
            if not interrupted.is_set():
                context.close()
        self.contexts.clear()


def screenshot_folder(otherwise: Path) -> Path:
    folder = Path(os.environ.get("WORKBENCH_SCREENSHOTS") or otherwise)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
