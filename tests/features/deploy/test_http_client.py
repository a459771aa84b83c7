"""The process that asks a server: an error of one caller ends the load of all."""

from __future__ import annotations

import socket

import numpy as np

from workbench.features.deploy.http_client import Client


def test_callers_without_a_server_report_their_errors_and_do_not_wait() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # held and not listening, so that nobody else answers
        tensors = {"inputs": [["x", "FP32"]], "outputs": ["y"]}
        url = f"127.0.0.1:{closed.getsockname()[1]}"
        client = Client(url, "m", {"x": np.zeros((1, 2), np.float32)}, tensors)
        answer = client.load(callers=3, seconds=0.1)
    assert 1 <= len(answer["errors"]) <= 3
    assert "refused" in answer["errors"][0]
    assert answer["latencies_s"] == []
