"""The HTTP side of a deployment's server without a network: what it refuses, bounds and answers meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.deployment.serving.app import make_app
from workbench.deployment.serving.hosted import Deployment, Hosted
from workbench.deployment.serving.protocol import Tensor

LIMITS = {
    "max_body_bytes": 2_000_000,
    "max_queue": 2,
    "timeout_s": 60.0,
    "max_batch": 1,
    "max_wait_s": 0.0,
    "concurrency": 1,
}
GOOD = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}]}


def changed(entry: dict[str, Any]) -> bytes:
    """Return the good request with another entry of its input."""
    return json.dumps({"inputs": [GOOD["inputs"][0] | entry]}).encode()


class Session:
    """A module of a session whose runs wait for the test."""

    def __init__(self) -> None:
        self.go, self.began = threading.Event(), threading.Event()
        self.go.set()

    def make_session(self, _: str) -> Session:
        return self

    def get_providers(self) -> list[str]:
        return ["CPUExecutionProvider"]

    def run(self, _: Session, feeds: dict[str, Any]) -> list[Any]:
        self.began.set()
        assert self.go.wait(30)
        if (feeds["x"] < 0).any():
            raise ValueError("/home/me/secret.onnx")
        return [feeds["x"] * 2]


class Client:
    """Sends requests to an application as a web server would."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def post(
        self, chunks: Sequence[bytes], headers: dict[str, str] | None = None, *, ends: str = "whole"
    ) -> tuple[int, dict[str, Any]]:
        """Send a body in chunks; `ends`: "whole", "never" (more was announced) or "gone" (disconnected)."""
        messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
        if ends == "whole":
            messages.append({"type": "http.request", "body": b"", "more_body": False})
        if ends == "gone":
            messages.append({"type": "http.disconnect"})
        return await self._call("POST", "/v2/models/m/infer", messages, headers or {})

    async def get(self, path: str) -> tuple[int, dict[str, Any]]:
        return await self._call("GET", path, [{"type": "http.request", "body": b"", "more_body": False}], {})

    async def _call(
        self, method: str, path: str, messages: list[dict[str, Any]], headers: dict[str, str]
    ) -> tuple[int, dict[str, Any]]:
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http",
            "server": ("test", 80), "client": ("test", 1),
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip
        answers: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop(0)
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: dict[str, Any]) -> None:
            answers.append(message)

        await self._app(scope, receive, send)
        body = b"".join(answer.get("body", b"") for answer in answers)
        assert b"Traceback" not in body
        assert b"/home/" not in body
        return answers[0]["status"], json.loads(body) if body.startswith(b"{") else {}


@asynccontextmanager
async def served(session: Session, **limits: float) -> AsyncIterator[Client]:
    """Give a client of a server that is ready."""
    x, y = Tensor("x", "FP32", (-1, 2)), Tensor("y", "FP32", (-1, 2))
    deployment = Deployment(
        "m", "1", "model.onnx", {}, ("CPUExecutionProvider",), False, False, 1, (x,), (y,), LIMITS | limits
    )
    hosted = Hosted(deployment, session)
    hosted.examples = lambda: {"x": np.zeros((1, 2), np.float32)}  # type: ignore[method-assign]
    app = make_app(hosted)
    async with app.router.lifespan_context(app):
        await asyncio.to_thread(hosted.ready.wait, 30)
        session.began.clear()
        yield Client(app)
        session.go.set()


def played(play: Callable[[Client, Session], Any], **limits: float) -> Any:
    """Run a coroutine function with a client and its session."""

    async def whole() -> Any:
        session = Session()
        async with served(session, **limits) as client:
            return await asyncio.wait_for(play(client, session), 60)

    return asyncio.run(whole())


def test_a_good_request_is_answered_in_one_or_many_chunks() -> None:
    async def play(client: Client, _: Session) -> None:
        body = json.dumps(GOOD).encode()
        for chunks in ([body], [body[place : place + 1] for place in range(len(body))]):
            status, answer = await client.post(chunks)
            assert status == 200
            assert answer["outputs"][0]["data"] == [2.0, 4.0]

    played(play)


@pytest.mark.parametrize(
    ("chunks", "headers", "status", "says"),
    [
        ([b"{"], {}, 400, "not JSON"),
        ([b'{"a":' * 100_000], {}, 400, "not JSON"),
        ([b"9" * 10_000], {}, 400, "not JSON"),
        ([b"\xff\xfe"], {}, 400, "not JSON"),
        ([b"x" * 1_000_000] * 3, {}, 413, "longer than 2000000 bytes"),
        ([], {"Content-Length": "99999999999"}, 413, "longer than 2000000 bytes"),
        ([b"{}"], {"Inference-Header-Content-Length": "9" * 5_000}, 400, "not a length within the body"),
        ([b"{}"], {"Inference-Header-Content-Length": "1.5"}, 400, "not a length within the body"),
        ([b"\x1f\x8b"], {"Content-Encoding": "gzip"}, 415, "compressed"),
        ([changed({"datatype": "FP64"})], {}, 400, "must be FP32"),
        ([changed({"shape": [1] * 10_000})], {}, 400, "must be ["),
        ([changed({"shape": [10**30, 2]})], {}, 400, "are not"),
        ([changed({"data": [-1, 2]})], {}, 400, "log has the reason"),
    ],
)  # fmt: skip
def test_abuse_is_refused_in_a_sentence(
    chunks: list[bytes], headers: dict[str, str], status: int, says: str
) -> None:
    async def play(client: Client, _: Session) -> None:
        answer = await client.post(chunks, headers)
        assert answer[0] == status
        assert says in answer[1]["error"]
        assert len(answer[1]["error"]) < 300
        assert (await client.post([json.dumps(GOOD).encode()]))[0] == 200  # and it goes on

    played(play)


def test_a_body_that_does_not_arrive_ends_in_time() -> None:
    async def play(client: Client, _: Session) -> None:
        status, answer = await client.post([b"{"], ends="never")
        assert status == 408
        assert "did not arrive within 0.05 s" in answer["error"]

    played(play, timeout_s=0.05)


def test_a_client_that_goes_away_is_no_error_of_the_model(caplog: pytest.LogCaptureFixture) -> None:
    async def play(client: Client, _: Session) -> None:
        assert (await client.post([b"{"], ends="gone"))[0] == 400
        assert (await client.post([json.dumps(GOOD).encode()]))[0] == 200

    played(play)
    assert "refused a request" not in caplog.text


def test_bodies_that_are_being_read_count_as_waiting() -> None:
    """Without that bound a thousand slow clients would hold a thousand bodies."""

    async def play(client: Client, _: Session) -> None:
        slow = [asyncio.create_task(client.post([b"{"], ends="never")) for _ in range(3)]
        await asyncio.sleep(0)  # each begins to read
        status, answer = await client.post([json.dumps(GOOD).encode()])
        assert (status, answer["error"]) == (503, "the queue is full")
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        assert (await client.post([json.dumps(GOOD).encode()]))[0] == 200

    played(play)


def test_health_is_answered_while_a_run_goes_on() -> None:
    async def play(client: Client, session: Session) -> None:
        session.go.clear()
        asked = asyncio.create_task(client.post([json.dumps(GOOD).encode()]))
        await asyncio.to_thread(session.began.wait, 30)
        for path in ("/v2/health/live", "/v2/health/ready", "/metrics"):
            assert (await client.get(path))[0] == 200
        session.go.set()
        assert (await asked)[0] == 200

    played(play)


def test_a_run_that_takes_too_long_is_given_up() -> None:
    async def play(client: Client, session: Session) -> None:
        session.go.clear()
        status, answer = await client.post([json.dumps(GOOD).encode()])
        assert status == 503
        assert "no answer within 0.05 s" in answer["error"]
        session.go.set()

    played(play, timeout_s=0.05)


def test_what_runs_at_the_end_is_answered() -> None:
    """The end of the application waits for the queue; the web server waits for its requests before that."""

    async def whole() -> tuple[int, dict[str, Any]]:
        session = Session()
        async with served(session) as client:
            session.go.clear()
            asked = asyncio.create_task(client.post([json.dumps(GOOD).encode()]))
            await asyncio.to_thread(session.began.wait, 30)
        return await asked

    assert asyncio.run(whole())[0] == 200


def test_the_document_of_a_deployment_is_read_as_it_is_written(tmp_path: Path) -> None:
    document = {
        "name": "m", "version": "1", "model": "model/m.onnx", "files": {"model/m.onnx": "0"},
        "providers": ["CPUExecutionProvider"], "fallback": False, "batchable": True, "warm_up_runs": 1,
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 2]}], "outputs": [], "limits": LIMITS,
    }  # fmt: skip
    (tmp_path / "deployment.json").write_text(json.dumps(document))
    deployment = Deployment.read(tmp_path)
    assert deployment.inputs == (Tensor("x", "FP32", (-1, 2)),)
    assert deployment.providers == ("CPUExecutionProvider",)
