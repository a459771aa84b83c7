"""A Jupyter server extension: Netron and speedscope behind its login, with no request to elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Return the module in which Jupyter Server finds `_load_jupyter_server_extension`."""
    return [{"module": "workbench.apps.server"}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Add our addresses below the server's base URL."""
    from workbench.apps.server.handlers import routes

    routed = routes(server.web_app.settings["base_url"])
    server.web_app.add_handlers(".*$", routed)  # type: ignore[no-untyped-call]
    server.log.info("workbench: Netron and speedscope are served below %sworkbench/", server.base_url)
