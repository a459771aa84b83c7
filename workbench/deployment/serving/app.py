"""The HTTP side of a deployment: the Open Inference Protocol with FastAPI, health and metrics."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from workbench.deployment.serving.batching import Batcher, Batching, QueueFull, TooLate
from workbench.deployment.serving.hosted import Deployment, Hosted
from workbench.deployment.serving.metrics import Metrics
from workbench.deployment.serving.protocol import HEADER_LENGTH, RequestError, read_request, write_response

T = TypeVar("T")
LOG = logging.getLogger("deployment")
_BUSY = {"Retry-After": "1"}
_LARGE_BYTES = 1 << 18  # a longer request or response is read or written beside the event loop


class Service:
    """Takes the requests of one model."""

    def __init__(self, hosted: Hosted, stop: Callable[[], None]) -> None:
        """`stop` ends the server when the session cannot be made."""
        self.hosted = hosted
        self.deployment: Deployment = hosted.deployment
        self.metrics = Metrics()
        self._stop = stop
        limits = self.deployment.limits
        self.max_body_bytes = int(limits["max_body_bytes"])
        rows = int(limits["max_batch"]) if self.deployment.batchable else 1
        self.max_requests = int(limits["max_queue"]) + rows * int(limits["concurrency"])
        self.requests = 0  # that are read, wait, run or are answered
        self.timeout_s = float(limits["timeout_s"])
        self.batcher = Batcher(
            lambda feeds: hosted.run(feeds, self.metrics.run.observe),
            Batching(
                max_rows=rows,
                max_wait_s=float(limits["max_wait_s"]),
                max_queue=int(limits["max_queue"]),
                timeout_s=self.timeout_s,
                threads=int(limits["concurrency"]),
            ),
            self.metrics.rows.observe,
        )
        self.metrics.queue.set_function(lambda: len(self.batcher))

    def load(self) -> None:
        try:
            self.hosted.load()
        except Exception as error:
            self.hosted.error = str(error)
            LOG.exception("the model cannot be served")
            self._stop()
        else:
            LOG.info("ready on %s", ", ".join(self.hosted.providers))

    async def infer(self, request: Request) -> Response:
        """Answer one infer request."""
        began = time.perf_counter()
        self.requests += 1
        try:
            response = await self._response(request)
        finally:
            self.requests -= 1
        self.metrics.latency.observe(time.perf_counter() - began)
        self.metrics.requests.labels(str(response.status_code)).inc()
        return response

    async def _response(self, request: Request) -> Response:
        if not self.hosted.ready.is_set():
            return failure(503, "the model is not ready yet", _BUSY)
        if self.requests > self.max_requests:  # bodies that are being read take memory before they wait
            return failure(503, "the queue is full", _BUSY)
        try:
            async with asyncio.timeout(self.timeout_s):
                body = await self._body(request)
        except TimeoutError:
            return failure(408, f"the request did not arrive within {self.timeout_s:g} s")
        except ClientDisconnect:
            return failure(400, "the client went away")
        except RequestError as error:
            return failure(error.status, str(error))
        length = request.headers.get(HEADER_LENGTH)
        inputs, wanted = self.deployment.inputs, self.deployment.outputs
        try:
            asked = await _aside(len(body), lambda: read_request(body, length, inputs, wanted))
            if self.deployment.batchable and len({array.shape[:1] for array in asked.feeds.values()}) > 1:
                raise RequestError("the inputs have different numbers of rows")
            future = asyncio.wrap_future(self.batcher.submit(asked.feeds))
            outputs = await asyncio.wait_for(future, self.timeout_s)
        except RequestError as error:
            return failure(error.status, str(error))
        except QueueFull:
            return failure(503, "the queue is full", _BUSY)
        except (TooLate, TimeoutError):
            return failure(503, f"no answer within {self.timeout_s:g} s", _BUSY)
        except Exception:  # the model's own error; its text can hold paths of this machine
            LOG.exception("the model refused a request")
            return failure(400, "the model cannot run these inputs; the server's log has the reason")
        name, version = self.deployment.name, self.deployment.version
        content, headers = await _aside(
            sum(array.nbytes for array in outputs.values()),
            lambda: write_response(name, version, asked, outputs, wanted),
        )
        return Response(content, headers=headers)

    async def _body(self, request: Request) -> bytes:
        """Read the body; refuse it as soon as it is too long."""
        if request.headers.get("Content-Encoding", "identity") != "identity":
            raise RequestError("the body is compressed; send it as it is", 415)
        chunks, length = [], 0
        if int(request.headers.get("Content-Length", "0")) > self.max_body_bytes:
            raise RequestError(f"the body is longer than {self.max_body_bytes} bytes", 413)
        async for chunk in request.stream():
            length += len(chunk)
            if length > self.max_body_bytes:
                raise RequestError(f"the body is longer than {self.max_body_bytes} bytes", 413)
            chunks.append(chunk)
        return b"".join(chunks)


async def _aside(size_bytes: int, work: Callable[[], T]) -> T:
    """Do the work; of a large one in a thread, so that health is answered meanwhile."""
    return await asyncio.to_thread(work) if size_bytes > _LARGE_BYTES else work()


def failure(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return an error as the protocol words it."""
    return JSONResponse({"error": message}, status, headers)


def make_app(hosted: Hosted, stop: Callable[[], None] = lambda: None) -> FastAPI:
    """Return the application; the session is loaded once the server listens."""
    service = Service(hosted, stop)
    deployment = hosted.deployment

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=service.load, name="load", daemon=True).start()
        yield
        await asyncio.to_thread(service.batcher.close)

    app = FastAPI(title=deployment.name, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    model = f"/v2/models/{deployment.name}"

    def on(path: str, answer: Callable[[], Any]) -> None:
        for prefix in (model, f"{model}/versions/{deployment.version}"):
            app.add_api_route(prefix + path, answer, methods=["GET"], response_model=None)

    async def metadata() -> dict[str, Any]:
        return {
            "name": deployment.name,
            "versions": [deployment.version],
            "platform": "onnxruntime_onnx",
            "inputs": [tensor.metadata() for tensor in deployment.inputs],
            "outputs": [tensor.metadata() for tensor in deployment.outputs],
            "providers": list(hosted.providers),
        }

    async def ready() -> Response:
        return Response(status_code=200 if hosted.ready.is_set() else 503)

    on("", metadata)
    on("/ready", ready)

    @app.get("/v2")
    async def server() -> dict[str, Any]:
        return {"name": "ort-workbench deployment", "version": "2", "extensions": ["binary_tensor_data"]}

    @app.get("/v2/health/live")
    async def live() -> Response:
        return Response(status_code=200)

    app.add_api_route("/v2/health/ready", ready, methods=["GET"], response_model=None)

    @app.post(f"{model}/infer", response_model=None)
    @app.post(f"{model}/versions/{deployment.version}/infer", response_model=None)
    async def infer(request: Request) -> Response:
        return await service.infer(request)

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

    @app.exception_handler(404)
    async def unknown(_: Request, __: Exception) -> Response:
        return failure(404, f"there is nothing here; the model is {model}")

    @app.exception_handler(405)
    async def wrong_method(_: Request, __: Exception) -> Response:
        return failure(405, "this address takes another method")

    @app.exception_handler(Exception)
    async def broken(_: Request, __: Exception) -> Response:
        return failure(500, "the server failed; its log has the reason")

    return app
