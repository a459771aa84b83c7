"""A real server, asked without its login. It is quick, so that every run of the tests asks it."""

from __future__ import annotations

from pathlib import Path

import workbench as wb
from tests.apps.server.conftest import BASE_URL, Client, tiny_model
from workbench.apps.server.links import netron_link


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
