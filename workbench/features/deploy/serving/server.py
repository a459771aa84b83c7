"""Serve the model of this folder over HTTP: `python server.py --host 127.0.0.1 --port 8000`.

The server speaks the Open Inference Protocol, version 2: health, metadata, and inference with tensors in JSON
or as binary data behind the JSON. `deployment.json` holds the limits, `session.py` the session's options.
"""

import argparse
import asyncio
import hashlib
import json
import logging
import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import Counter, Gauge, Histogram, generate_latest
from pydantic import BaseModel, FailFast, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

FOLDER = Path(__file__).resolve().parent
LOG = logging.getLogger("deployment")
JSON_LENGTH = "Inference-Header-Content-Length"  # the header of a body with binary data
_BUSY = {"Retry-After": "1"}
BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
REQUESTS = Counter("inference_requests", "Requests by HTTP status", ["status"])
IN_FLIGHT = Gauge("inference_requests_in_flight", "Requests that arrive, wait or run")
REQUEST_S = Histogram("inference_request_duration_seconds", "Requests", buckets=BUCKETS_S)
RUN_S = Histogram("inference_run_duration_seconds", "Runs of the session", buckets=BUCKETS_S)
JSON_TYPES: dict[str, set[type]] = {"b": {bool}, "u": {int}, "i": {int}, "f": {int, float}, "O": {str}}


class Parameters(BaseModel, strict=True):
    binary_data_size: int | None = None  # of an input: its bytes behind the JSON
    binary_data: bool | None = None  # of an output: whether it is sent as bytes
    binary_data_output: bool = False  # of a request: the default of its outputs


class Tensor(BaseModel, strict=True):
    name: str
    datatype: str = ""
    shape: Annotated[list[int], FailFast()] = []
    data: Any = None
    parameters: Parameters = Parameters()


class InferRequest(BaseModel, strict=True):
    id: str | None = None
    inputs: Annotated[list[Tensor], FailFast()]
    outputs: Annotated[list[Tensor], FailFast()] = []
    parameters: Parameters = Parameters()


class ServedModel:
    """The session of a deployment; `settings` is deployment.json, `session` the module session.py."""

    def __init__(self, settings: dict[str, Any], session: Any, folder: Path = FOLDER) -> None:
        """Check the files, make the session, and run it on the example inputs."""
        for name, expected in settings["files"].items():
            with (folder / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                    raise SystemExit(f"{name} is not the file that was deployed: its SHA-256 differs")
        self._run, self._session = session.run, session.make_session(str(folder / settings["model"]))
        self.settings, self.limits = settings, settings["limits"]
        self.providers = self._session.get_providers()
        missing = [name for name in settings["providers"] if name not in self.providers]
        if missing and not settings["fallback"]:
            fix = 'install what it needs, or set "fallback" to true in deployment.json'
            raise SystemExit(f"{', '.join(missing)} did not start: {fix}")
        self.inputs = {tensor["name"]: Tensor(**tensor) for tensor in settings["inputs"]}
        self.outputs = {tensor["name"]: Tensor(**tensor) for tensor in settings["outputs"]}
        with np.load(folder / "examples.npz", allow_pickle=False) as arrays:
            feeds = dict(zip(self.inputs, arrays.values(), strict=True))
        feeds = {name: array.astype(dtype_of(self.inputs[name])) for name, array in feeds.items()}
        for _ in range(settings["warm_up_runs"]):
            self._run(self._session, feeds)

    def answer(self, body: bytearray, json_length: str) -> Response:
        """Read an infer request, run the session, and write the response."""
        length = int(json_length) if json_length.isdecimal() and len(json_length) < 19 else -1
        if not 0 <= length <= len(body):
            raise HTTPException(400, f"{JSON_LENGTH} is not a length within the body")
        if length > (most := self.limits["max_json_bytes"]):
            raise HTTPException(413, f"the JSON is longer than {most} bytes: send tensors as binary data")
        try:
            request = InferRequest.model_validate_json(body[:length])
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the request"
            raise HTTPException(400, f"{place}: {first['msg']}") from None
        feeds, wanted, binary = dict[str, Any](), dict[str, bool](), memoryview(body)[length:]
        for given in request.inputs:
            tensor, size = find(given, "input", self.inputs, feeds), given.parameters.binary_data_size
            data = None if size is None else binary[:size]
            if data is not None and len(data) != size:
                raise HTTPException(400, f"the body does not hold all bytes of input {tensor.name}")
            feeds[tensor.name] = read_tensor(given, tensor, data, self.limits["max_elements"])
            binary = binary[len(data or b"") :]
        if missing := [name for name in self.inputs if name not in feeds]:
            raise HTTPException(400, f"input {', '.join(missing)} is missing")
        if binary:
            raise HTTPException(400, f"{len(binary)} bytes follow the last binary input")
        for asked in request.outputs or self.outputs.values():
            name, own = find(asked, "output", self.outputs, wanted).name, asked.parameters.binary_data
            wanted[name] = request.parameters.binary_data_output if own is None else own
        try:
            with RUN_S.time():
                values = self._run(self._session, feeds)
        except Exception:  # its text can hold paths of this machine
            LOG.exception("the model refused a request")
            raise HTTPException(400, "the model cannot run these inputs; the server's log says why") from None
        return self._response(request.id, wanted, dict(zip(self.outputs, values, strict=True)))

    def _response(self, id: str | None, wanted: dict[str, bool], values: dict[str, Any]) -> Response:
        head = {"model_name": self.settings["name"], "model_version": self.settings["version"]}
        head |= {} if id is None else {"id": id}
        outputs, chunks = list[dict[str, Any]](), list[bytes]()
        for name, binary in wanted.items():
            array, entry = values[name], {"name": name, "datatype": self.outputs[name].datatype}
            outputs.append({**entry, "shape": list(array.shape)})
            if binary:
                chunks.append(to_bytes(array))
                outputs[-1]["parameters"] = {"binary_data_size": len(chunks[-1])}
            elif array.size > self.limits["max_elements"]:
                raise HTTPException(400, f"output {name} has {array.size} elements: ask for binary_data")
            else:  # NaN and infinity have no JSON form, so they are null
                flat = array.reshape(-1).tolist()
                outputs[-1]["data"] = [None if type(v) is float and not math.isfinite(v) else v for v in flat]
        text = json.dumps({**head, "outputs": outputs}).encode()
        if not chunks:
            return Response(text, media_type="application/json")
        size = {JSON_LENGTH: str(len(text))}
        return Response(b"".join([text, *chunks]), 200, size, "application/octet-stream")


def find(named: Tensor, side: str, known: dict[str, Tensor], taken: dict[str, Any]) -> Tensor:
    """Return the input or output that an entry of a request names, which it may name once."""
    if named.name not in known:
        raise HTTPException(400, f"there is no {side} {named.name!r:.60}; {side}s are {', '.join(known)}")
    if named.name in taken:
        raise HTTPException(400, f"{side} {named.name} is named twice")
    return known[named.name]


def read_tensor(given: Tensor, known: Tensor, data: memoryview | None, most: int) -> Any:
    """Return one input as an array; `most` bounds the elements that become objects of Python."""
    fits = all(size >= 0 and dim in (-1, size) for size, dim in zip(given.shape, known.shape, strict=False))
    if given.datatype != known.datatype or len(given.shape) != len(known.shape) or not fits:
        must = f"it must be {known.datatype} {known.shape}, where -1 is any size"
        raise HTTPException(400, f"input {known.name} is {given.datatype!r:.60} {given.shape!r:.60}; {must}")
    dtype, count = dtype_of(known), math.prod(given.shape)
    if count > most and (data is None or dtype.kind == "O"):
        raise HTTPException(413, f"input {known.name} has more than {most} elements: send binary data")
    try:
        if data is None:
            array = from_json(given.data, len(given.shape), dtype)
        elif dtype.kind == "O":
            array = np.array(texts(data, count), dtype)
        else:
            array = np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)  # an aligned copy
        return array.reshape(given.shape)
    except (ValueError, TypeError, OverflowError) as error:
        raise HTTPException(400, f"data of input {known.name} do not fit its shape and datatype") from error


def dtype_of(tensor: Tensor) -> np.dtype[Any]:
    return np.dtype("O" if tensor.datatype == "BYTES" else tensor.datatype.lower().replace("fp", "float"))


def from_json(data: Any, depth: int, dtype: np.dtype[Any]) -> Any:
    """Return the values of a list, or of lists nested as deep as the shape; integers must fit."""
    while depth > 1 and data and all(type(row) is list and len(row) == len(data[0]) for row in data):
        data, depth = [value for row in data for value in row], depth - 1
    if type(data) is not list or not {*map(type, data)} <= JSON_TYPES[dtype.kind]:
        raise TypeError("not a list of values of this type")
    array = np.array(data, dtype)
    if dtype.kind in "iu" and array.tolist() != data:
        raise OverflowError("values out of range")
    return array


def texts(data: memoryview, count: int) -> list[str]:
    """Return texts of UTF-8, each of which follows its length in 4 bytes."""
    values, place = [], 0
    for _ in range(count):
        start = place + 4
        place = start + int.from_bytes(data[place:start], "little")
        values.append(str(data[start:place], "utf-8"))
    if place != len(data):
        raise ValueError("the lengths do not add up")
    return values


def to_bytes(array: Any) -> bytes:
    if array.dtype.kind != "O":
        return bytes(array.astype(array.dtype.newbyteorder("<")).tobytes())
    encoded = [str(text).encode() for text in array.reshape(-1)]
    return b"".join(len(text).to_bytes(4, "little") + text for text in encoded)


async def read_body(request: Request, most: int) -> bytearray:
    """Read the body; refuse it as soon as it is too long."""
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise HTTPException(415, "the body is compressed; send it as it is")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise HTTPException(413, f"the body is longer than {most} bytes")
    return body


def make_app(model: ServedModel) -> FastAPI:
    """Return the application that serves a model."""
    settings, limits = model.settings, model.settings["limits"]
    root = f"/v2/models/{settings['name']}"
    version = f"{root}/versions/{settings['version']}"
    pool = ThreadPoolExecutor(limits["concurrency"], "run")
    places = asyncio.Semaphore(limits["concurrency"] + limits["max_queue"])
    app = FastAPI(title=settings["name"], docs_url=None, redoc_url=None, openapi_url=None)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    @app.post(f"{root}/infer")
    @app.post(f"{version}/infer")
    async def infer(request: Request) -> Response:
        with REQUEST_S.time(), IN_FLIGHT.track_inprogress():
            try:
                response = await answered(request)
            except HTTPException as error:
                response = await refused(request, error)
        REQUESTS.labels(str(response.status_code)).inc()
        return response

    async def answered(request: Request) -> Response:
        if places.locked():
            raise HTTPException(503, "the queue is full", _BUSY)
        late = HTTPException(408, f"the request did not arrive within {limits['timeout_s']:g} s")
        try:
            async with places, asyncio.timeout(limits["timeout_s"]):
                body = await read_body(request, limits["max_body_bytes"])
                late = HTTPException(503, f"no answer within {limits['timeout_s']:g} s", _BUSY)
                length = request.headers.get(JSON_LENGTH, str(len(body)))
                return await asyncio.get_running_loop().run_in_executor(pool, model.answer, body, length)
        except TimeoutError:
            raise late from None
        except ClientDisconnect:
            raise HTTPException(400, "the client went away") from None

    @app.get("/v2")
    async def server() -> dict[str, Any]:
        return {"name": "ort-workbench deployment", "version": "2", "extensions": ["binary_tensor_data"]}

    @app.get(root)
    @app.get(version)
    async def metadata() -> dict[str, Any]:
        about = {key: settings[key] for key in ("name", "inputs", "outputs")}
        running = {"versions": [settings["version"]], "providers": model.providers}
        return {**about, "platform": "onnxruntime_onnx", **running}

    @app.get("/v2/health/live")
    @app.get("/v2/health/ready")
    @app.get(f"{root}/ready")
    @app.get(f"{version}/ready")
    async def ready() -> Response:  # the model is loaded before the server listens
        return Response()

    @app.get("/metrics")
    async def prometheus() -> Response:
        return Response(generate_latest(), media_type="text/plain; version=0.0.4")

    return app


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--until-stdin-ends", action="store_true", help="end when the starting process does")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    if options.until_stdin_ends:
        threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
    import session  # of this deployment, beside this file

    app = make_app(ServedModel(json.loads((FOLDER / "deployment.json").read_text("utf-8")), session))
    uvicorn.run(app, host=options.host, port=options.port, access_log=False, timeout_graceful_shutdown=30)


if __name__ == "__main__":
    main()
