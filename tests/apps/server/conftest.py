"""A real server below a base URL, asked without a browser."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import onnx
import pytest
from onnx import TensorProto, helper

if TYPE_CHECKING:
    from tests.browser.harness.lab import Lab

BASE_URL = "/base/user/x/"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Client:
    """Asks for exact paths: nothing is tidied up on the way."""

    lab: Lab

    def get(self, relative: str, *, token: bool = True, **headers: str) -> Answer:
        where = urlsplit(self.lab.base)
        connection = http.client.HTTPConnection(where.netloc)
        if token:
            headers["Authorization"] = f"token {self.lab.token}"
        connection.putrequest("GET", where.path + relative, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, body)


@pytest.fixture(scope="package")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    from tests.browser.harness.lab import started_lab  # imports Playwright, which few tests here need

    config = {"ServerApp": {"base_url": BASE_URL}}
    with started_lab(tmp_path_factory.mktemp("server"), config=config) as lab:
        assert urlsplit(lab.base).path == BASE_URL
        yield Client(lab)


def tiny_model(path: Path, name: str = "add", dims: int = 2) -> Path:
    """A model of one Add and a weight of `dims` floats."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [dims], [1.0] * dims)
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"], name=name)],
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [dims])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [dims])],
        [weight],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path
