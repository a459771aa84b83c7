"""A real server, asked without its login. It is not slow, so that the default run of the tests asks it."""

from __future__ import annotations

from pathlib import Path

import pytest
from jupyter_server.base.handlers import JupyterHandler
from tornado.web import RequestHandler

import workbench as wb
from tests.apps.server.conftest import BASE_URL, Client, tiny_model
from workbench.apps.server.handlers import routes
from workbench.apps.server.links import netron_link

pytestmark = pytest.mark.real


def test_nothing_without_the_login(client: Client, tmp_path: Path) -> None:
    relative = netron_link(wb.load(tiny_model(tmp_path / "model.onnx"))).relative
    for path in (relative, relative + "model.onnx", relative + "view.js", "workbench/status"):
        answer = client.get(path, token=False)
        assert answer.status in (302, 403)
        assert b"Netron" not in answer.body
        if answer.status == 302:
            assert answer.headers["location"].startswith(BASE_URL + "login?next=")


def test_with_the_login_the_same_addresses_answer(client: Client, tmp_path: Path) -> None:
    relative = netron_link(wb.load(tiny_model(tmp_path / "model.onnx"))).relative
    for path in (relative, relative + "model.onnx", "workbench/status"):
        assert client.get(path).status == 200


def test_under_jupyterhub_scripts_read_without_a_token_since_nothing_can_be_written() -> None:
    """JupyterHub asks our handler whether the token of a script that reads is right; Netron sends none."""
    for _, handler in routes("/"):
        assert handler.check_xsrf_cookie is not JupyterHandler.check_xsrf_cookie
        for method in ("post", "put", "patch", "delete"):
            assert getattr(handler, method) is getattr(RequestHandler, method)
