"""`workbench lab`: JupyterLab on the user's copy of the notebooks, for this user only."""

from __future__ import annotations

import argparse
import json
import logging
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from workbench.apps.cli.commands import Commands, add_command
from workbench.apps.cli.notebooks import shipped_folder, writable_copy
from workbench.core.installed import need

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


_HERE = Path(__file__).resolve().parent
TOUR = "00_tour.ipynb"
COURSE = "course/README.md"  # the list of its lessons


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    add_options(add_command(commands, "lab", run, "open the notebooks in JupyterLab"))


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of a command that opens JupyterLab."""
    command.add_argument("--no-browser", action="store_true", help="only print the address")
    command.add_argument("--port", type=int, default=8888, help="default 8888, or the next free one")
    command.add_argument("--ip", default="127.0.0.1", help="address to listen on; default: this machine only")
    command.add_argument("--folder", type=Path, help="default: the notebooks in your data folder")


def run(arguments: argparse.Namespace) -> NoReturn:
    """Open the tour."""
    serve(arguments, TOUR)


def serve(arguments: argparse.Namespace, notebook: str) -> NoReturn:
    """Open a notebook and serve until the server stops, then end the process."""
    need("jupyterlab")
    from jupyterlab.labapp import LabApp

    folder = writable_copy(arguments.folder)
    os.environ.update(surroundings(_HERE.parents[2], os.environ))
    browser = not arguments.no_browser
    server = LabApp.initialize_server(options(folder, arguments.ip, arguments.port, browser, notebook))
    page = server.web_app.settings.setdefault("page_config_data", {})  # read by jupyter/labextensions
    page["buildCheck"] = False  # it takes seconds of the server, for extensions that need Node.js
    page["workbenchCards"] = json.dumps(cards())
    if notebook == TOUR:
        page["workbenchTour"] = json.dumps(tour())
    server.io_loop.add_callback(_print_address, server)  # the server listens then, so its port is known
    server.start()
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # kernels are stopped; idle threads of the server can block a normal exit for ever


def tour() -> dict[str, str]:
    """Return the notebook that opens with the workbench, and the only cell to run: the first, as shipped."""
    book = json.loads((shipped_folder() / TOUR).read_text(encoding="utf-8"))
    cell = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
    return {"path": TOUR, "source": "".join(cell["source"])}


def cards() -> list[dict[str, str]]:
    """Return what the launcher offers beside the panels, whose card our extension adds in any JupyterLab."""
    return [
        {
            "name": "course",
            "label": "Course",
            "caption": "Lessons that measure instead of believing",
            "path": COURSE,
            "factory": "Markdown Preview",
        },
        {
            "name": "tour",
            "label": "Tour",
            "caption": "Ten minutes to a verdict on BERT-base",
            "path": TOUR,
            "factory": "Notebook",
        },
    ]


def _print_address(server: ServerApp) -> None:
    address = server.display_url.split()[0].partition("?")[0]
    print(f"Open {address}?token={server.identity_provider.token}", flush=True)


def surroundings(place: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of server and kernels: our JupyterLab defaults and the path of a checkout."""
    added = {"JUPYTER_CONFIG_PATH": _HERE / "jupyter"}
    if "site-packages" not in place.parts and "dist-packages" not in place.parts:
        added["PYTHONPATH"] = place
    return {
        name: os.pathsep.join([str(folder), *filter(None, [given.get(name)])])
        for name, folder in added.items()
    }


def options(folder: Path, ip: str, port: int, browser: bool, notebook: str = TOUR) -> list[str]:
    """Return JupyterLab's settings as a list, since other users can read the command line of a process."""
    settings = {
        "ServerApp.ip": ip,
        "ServerApp.port": port,
        "ServerApp.root_dir": folder.resolve(),
        "ServerApp.open_browser": browser,
        "ServerApp.allow_root": hasattr(os, "geteuid") and os.geteuid() == 0,  # for containers
        "JupyterApp.answer_yes": True,  # Ctrl-C stops at once
        "IdentityProvider.token": secrets.token_hex(24),  # overrides configuration files
        "LabApp.default_url": f"/lab/tree/{notebook}",
        "LabApp.extra_labextensions_path": _HERE / "jupyter" / "labextensions",
        # Nothing leaves the machine by itself: no news, no look-up of updates, no list of extensions. (The
        # question about news that JupyterLab still asks is turned off in jupyter/labconfig.)
        "LabApp.news_url": None,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
    }
    return [f"--{name}={value}" for name, value in settings.items()]
