"""The server of a deployment without a network: the protocol, what it refuses and bounds, the queue."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.features.deploy.serving.server import JSON_LENGTH, ServedModel, make_app

LIMITS = {
    "max_body_bytes": 200_000,
    "max_json_bytes": 100_000,
    "max_elements": 1_000,
    "max_queue": 2,
    "timeout_s": 60.0,
    "concurrency": 1,
}
X = {"name": "x", "datatype": "FP32", "shape": [-1, 2]}
IDS = {"name": "x", "datatype": "INT64", "shape": [-1]}
WORDS = {"name": "x", "datatype": "BYTES", "shape": [-1]}
SCALAR = {"name": "x", "datatype": "FP64", "shape": []}


class Session:
    """A module of a session that returns its input; its runs wait for the test."""

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
        if feeds["x"].dtype.kind == "f" and (feeds["x"] < 0).any():
            raise ValueError("/home/me/secret.onnx")
        return [feeds["x"]]


class Client:
    """Sends requests to an application as a web server would."""

    def __init__(self, app: Any, tensor: dict[str, Any]) -> None:
        self._app, self._tensor = app, tensor
        self.content = b""  # of the last answer

    def body(self, data: object = None, shape: Sequence[int] = (1, 2), rest: object = None) -> bytes:
        """Return a request; `rest` changes it."""
        tensor = {**self._tensor, "shape": list(shape), "data": [1, 2] if data is None else data}
        return json.dumps({"inputs": [tensor], **(rest or {})}).encode()  # type: ignore[dict-item]

    async def post(
        self, chunks: bytes | Sequence[bytes], headers: dict[str, str] | None = None, *, ends: str = "whole"
    ) -> tuple[int, dict[str, Any]]:
        """Send a body; `ends`: "whole", "never" (more was announced) or "gone" (disconnected)."""
        pieces = [chunks] if isinstance(chunks, bytes) else chunks
        messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
        if ends == "whole":
            messages.append({"type": "http.request", "body": b"", "more_body": False})
        if ends == "gone":
            messages.append({"type": "http.disconnect"})
        return await self._call("POST", "/v2/models/m/infer", messages, headers or {})

    async def binary(self, data: bytes, shape: Sequence[int], **entry: object) -> tuple[int, dict[str, Any]]:
        """Send one input as bytes behind the JSON, and ask for binary outputs."""
        tensor = {
            **self._tensor,
            "shape": list(shape),
            "parameters": {"binary_data_size": len(data)},
            **entry,
        }
        head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
        return await self.post(head + data, {JSON_LENGTH: str(len(head))})

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
        sizes = [value for name, value in answers[0]["headers"] if name == JSON_LENGTH.lower().encode()]
        head = body[: int(sizes[0])] if sizes else body
        self.content = body[len(head) :]
        return answers[0]["status"], json.loads(head) if head.startswith(b"{") else {}


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Any]:
    """Run a coroutine function with a client of a server and its session."""

    def played(scene: Callable[[Client, Session], Any], tensor: dict[str, Any] = X, **limits: float) -> Any:
        dtype = {"BYTES": "U", "INT64": "int64", "FP64": "float64", "FP32": "float32"}[tensor["datatype"]]
        np.savez(tmp_path / "examples.npz", np.ones([abs(size) for size in tensor["shape"]]).astype(dtype))
        settings = {
            "name": "m", "version": "1", "model": "m.onnx", "files": {}, "fallback": False, "warm_up_runs": 1,
            "providers": ["CPUExecutionProvider"], "inputs": [tensor], "outputs": [{**tensor, "name": "y"}],
            "limits": LIMITS | limits,
        }  # fmt: skip

        async def whole() -> Any:
            session = Session()
            client = Client(make_app(ServedModel(settings, session, tmp_path)), tensor)
            session.began.clear()  # after the warm-up
            try:
                return await asyncio.wait_for(scene(client, session), 60)
            finally:
                session.go.set()

        return asyncio.run(whole())

    return played


Play = Callable[..., Any]


def test_a_request_is_answered_in_one_or_many_chunks(play: Play) -> None:
    async def scene(client: Client, _: Session) -> None:
        body = client.body(rest={"id": "7"})
        for chunks in (body, [body[place : place + 1] for place in range(len(body))]):
            assert await client.post(chunks) == (
                200,
                {
                    "model_name": "m",
                    "model_version": "1",
                    "id": "7",
                    "outputs": [{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [1.0, 2.0]}],
                },
            )

    play(scene)


@pytest.mark.parametrize(
    ("tensor", "shape", "data", "expected"),
    [
        (X, [2, 2], [1, 2.5, 3, 4], [1, 2.5, 3, 4]),
        (X, [2, 2], [[1, 2.5], [3, 4]], [1, 2.5, 3, 4]),
        (X, [0, 2], [], []),
        (X, [1, 2], [1e400, -0.0], [None, 0.0]),  # JSON has no infinity
        (IDS, [2], [2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        (WORDS, [2], ["a", "ü"], ["a", "ü"]),
        (SCALAR, [], [2.5], [2.5]),
    ],
)
def test_json_carries_each_type(
    play: Play, tensor: dict[str, Any], shape: list[int], data: list[Any], expected: list[Any]
) -> None:
    async def scene(client: Client, _: Session) -> None:
        status, answer = await client.post(client.body(data, shape))
        assert (status, answer["outputs"][0]["data"]) == (200, expected)
        assert answer["outputs"][0]["shape"] == shape

    play(scene, tensor)


@pytest.mark.parametrize(
    ("tensor", "shape", "data"),
    [
        (X, [2, 2], np.arange(4, dtype="<f4").tobytes()),
        (IDS, [2], np.array([5, -1], "<i8").tobytes()),
        (WORDS, [2], b"\1\0\0\0a\2\0\0\0\xc3\xbc"),
        (SCALAR, [], np.float64(2.5).tobytes()),
    ],
)
def test_binary_data_carry_each_type(
    play: Play, tensor: dict[str, Any], shape: list[int], data: bytes
) -> None:
    async def scene(client: Client, _: Session) -> None:
        status, answer = await client.binary(data, shape)
        assert (status, client.content) == (200, data)
        assert answer["outputs"][0]["parameters"] == {"binary_data_size": len(data)}

    play(scene, tensor)


def test_an_output_can_be_binary_where_the_input_is_json(play: Play) -> None:
    async def scene(client: Client, _: Session) -> None:
        outputs = [{"name": "y", "parameters": {"binary_data": True}}]
        assert (await client.post(client.body(rest={"outputs": outputs})))[0] == 200
        assert client.content == np.array([1, 2], "<f4").tobytes()

    play(scene)


def entry(**changes: Any) -> bytes:
    return json.dumps({"inputs": [X | {"shape": [1, 2], "data": [1, 2]} | changes]}).encode()


@pytest.mark.parametrize(
    ("body", "headers", "status", "says"),
    [
        (b"{", {}, 400, "Invalid JSON"),
        (b'{"a":' * 10_000, {}, 400, "Invalid JSON"),
        (b"9" * 10_000, {}, 400, "the request"),
        (b"\xff\xfe", {}, 400, "Invalid JSON"),
        (b"[]", {}, 400, "the request"),
        (b'{"inputs": [3]}', {}, 400, "inputs.0"),
        (b'{"inputs": []}', {}, 400, "input x is missing"),
        (b" " * 150_000, {}, 413, "the JSON is longer than 100000 bytes: send tensors as binary data"),
        (b" " * 300_000, {}, 413, "the body is longer than 200000 bytes"),
        (b"{}", {JSON_LENGTH: "9" * 5_000}, 400, "not a length within the body"),
        (b"{}", {JSON_LENGTH: "1.5"}, 400, "not a length within the body"),
        (b"{}", {JSON_LENGTH: "-1"}, 400, "not a length within the body"),
        (b"\x1f\x8b", {"Content-Encoding": "gzip"}, 415, "compressed"),
        (entry(name="z" * 9_000), {}, 400, "there is no input 'zzz"),
        (entry(datatype="FP64"), {}, 400, "must be FP32 [-1, 2]"),
        (entry(shape=[1] * 10_000), {}, 400, "must be FP32 [-1, 2]"),
        (entry(shape=[True, 2]), {}, 400, "inputs.0.shape.0"),
        (entry(shape=[-1, 2]), {}, 400, "must be FP32 [-1, 2]"),
        (entry(shape=[10**30, 2]), {}, 413, "more than 1000 elements"),
        (entry(data=[1]), {}, 400, "do not fit"),
        (entry(data=[[1, 2], [3]]), {}, 400, "do not fit"),
        (entry(data=["1", "2"]), {}, 400, "do not fit"),
        (entry(data=[1, "x" * 50_000]), {}, 400, "do not fit"),
        (entry(data=None), {}, 400, "do not fit"),
        (entry(data=[-1, 2]), {}, 400, "log says why"),
        (entry(data=[1] * 2_000, shape=[1_000, 2]), {}, 413, "more than 1000 elements"),
        (json.dumps({"inputs": 2 * json.loads(entry())["inputs"]}).encode(), {}, 400, "named twice"),
        (json.dumps({**json.loads(entry()), "outputs": [{"name": "z"}]}).encode(), {}, 400, "outputs are y"),
        (json.dumps({**json.loads(entry()), "outputs": 3}).encode(), {}, 400, "outputs"),
    ],
)  # fmt: skip
def test_abuse_is_refused_in_a_sentence(
    play: Play, body: bytes, headers: dict[str, str], status: int, says: str
) -> None:
    async def scene(client: Client, _: Session) -> None:
        answer = await client.post([body[:150_000], body[150_000:]], headers)
        assert answer[0] == status
        assert says in answer[1]["error"]
        assert len(answer[1]["error"]) < 300
        assert (await client.post(client.body()))[0] == 200  # and it goes on

    play(scene)


def test_an_output_is_named_once(play: Play) -> None:
    """A request of 440 KiB that named one output 30,000 times was answered with 102 MB."""

    async def scene(client: Client, _: Session) -> None:
        status, answer = await client.post(client.body(rest={"outputs": [{"name": "y"}] * 2_000}))
        assert (status, answer["error"]) == (400, "output y is named twice")

    play(scene)


def test_a_large_output_is_not_written_in_json(play: Play) -> None:
    async def scene(client: Client, _: Session) -> None:
        data = np.zeros((600, 2), "<f4").tobytes()
        assert (await client.binary(data, [600, 2]))[0] == 200
        tensor = {**X, "shape": [600, 2], "parameters": {"binary_data_size": len(data)}}
        head = json.dumps({"inputs": [tensor]}).encode()
        status, answer = await client.post(head + data, {JSON_LENGTH: str(len(head))})
        assert (status, answer["error"]) == (400, "output y has 1200 elements: ask for binary_data")

    play(scene)


@pytest.mark.parametrize(
    ("tensor", "data", "shape", "size"),
    [
        (X, b"\0" * 8, [1, 2], 12),
        (X, b"\0" * 8, [1, 2], 4),
        (X, b"\0" * 8, [1, 2], -1),
        (X, b"\0" * 8, [2, 2], 8),
        (X, b"\0" * 9, [1, 2], 8),
        (WORDS, b"\1\0\0\0a", [2], 5),
        (WORDS, b"\2\0\0\0a", [1], 5),
        (WORDS, b"\1\0\0\0\xff", [1], 5),
        (WORDS, b"\0\0\0\0\0\0\0\0", [1], 8),
    ],
)
def test_binary_sizes_must_fit(
    play: Play, tensor: dict[str, Any], data: bytes, shape: list[int], size: int
) -> None:
    async def scene(client: Client, _: Session) -> None:
        status, answer = await client.binary(data, shape, parameters={"binary_data_size": size})
        assert status == 400
        assert any(word in answer["error"] for word in ("do not fit", "follow", "does not hold"))

    play(scene, tensor)


@pytest.mark.parametrize("data", [[1.5], [2**63], [None], [True], [[[[1], 2]]]])
def test_integers_are_not_rounded(play: Play, data: list[Any]) -> None:
    async def scene(client: Client, _: Session) -> None:
        status, answer = await client.post(client.body(data, [1]))
        assert (status, answer["error"]) == (400, "data of input x do not fit its shape and datatype")

    play(scene, IDS)


def test_a_body_that_does_not_arrive_ends_in_time(play: Play) -> None:
    async def scene(client: Client, _: Session) -> None:
        status, answer = await client.post(b"{", ends="never")
        assert (status, answer["error"]) == (408, "the request did not arrive within 0.05 s")

    play(scene, timeout_s=0.05)


def test_a_client_that_goes_away_is_no_error_of_the_model(
    play: Play, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(client: Client, _: Session) -> None:
        assert (await client.post(b"{", ends="gone"))[0] == 400
        assert (await client.post(client.body()))[0] == 200

    play(scene)
    assert "refused a request" not in caplog.text


def test_bodies_that_are_being_read_count_as_waiting(play: Play) -> None:
    """Without that bound a thousand slow clients would hold a thousand bodies."""

    async def scene(client: Client, _: Session) -> None:
        slow = [asyncio.create_task(client.post(b"{", ends="never")) for _ in range(3)]
        await asyncio.sleep(0)  # each begins to read
        assert await client.post(client.body()) == (503, {"error": "the queue is full"})
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        assert (await client.post(client.body()))[0] == 200

    play(scene)


def test_health_is_answered_while_a_run_goes_on(play: Play) -> None:
    async def scene(client: Client, session: Session) -> None:
        session.go.clear()
        asked = asyncio.create_task(client.post(client.body()))
        await asyncio.to_thread(session.began.wait, 30)
        for path in ("/v2/health/live", "/v2/health/ready", "/metrics"):
            assert (await client.get(path))[0] == 200
        session.go.set()
        assert (await asked)[0] == 200

    play(scene)


def test_a_run_that_takes_too_long_is_given_up(play: Play) -> None:
    async def scene(client: Client, session: Session) -> None:
        session.go.clear()
        assert await client.post(client.body()) == (503, {"error": "no answer within 0.05 s"})

    play(scene, timeout_s=0.05)
