"""The Open Inference Protocol of the server that a deployment contains."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from workbench.deployment.serving.protocol import (
    HEADER_LENGTH,
    RequestError,
    Tensor,
    read_request,
    write_response,
)

X = Tensor("x", "FP32", (-1, 3))
IDS = Tensor("ids", "INT64", (-1,))
WORDS = Tensor("words", "BYTES", (2,))
Y = Tensor("y", "FP32", (-1, 2))


def body(*inputs: dict[str, Any], **rest: Any) -> bytes:
    return json.dumps({"inputs": list(inputs), **rest}).encode()


def entry(name: str = "x", datatype: str = "FP32", shape: object = (1, 3), **rest: Any) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": shape, **rest}


def test_flat_and_nested_data_are_the_same_array() -> None:
    for data in ([1, 2.5, 3], [[1, 2.5, 3]]):
        request = read_request(body(entry(data=data), id="7"), None, [X], [Y])
        assert request.id == "7"
        assert request.feeds["x"].dtype == np.float32
        assert request.feeds["x"].tolist() == [[1.0, 2.5, 3.0]]
        assert request.outputs == (("y", False),)


def test_binary_tensors_follow_the_header() -> None:
    x, ids = np.arange(6, dtype="<f4").tobytes(), np.array([5, -1], "<i8").tobytes()
    head = body(
        entry(shape=[2, 3], parameters={"binary_data_size": len(x)}),
        entry("ids", "INT64", [2], parameters={"binary_data_size": len(ids)}),
        outputs=[{"name": "y", "parameters": {"binary_data": True}}],
    )
    request = read_request(head + x + ids, str(len(head)), [X, IDS], [Y])
    assert request.feeds["x"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert request.feeds["ids"].tolist() == [5, -1]
    assert request.outputs == (("y", True),)


def test_texts_have_their_lengths_before_them() -> None:
    raw = b"".join(len(text).to_bytes(4, "little") + text for text in (b"a", "ü".encode()))
    head = body(entry("words", "BYTES", [2], parameters={"binary_data_size": len(raw)}))
    request = read_request(head + raw, str(len(head)), [WORDS], [Y])
    assert request.feeds["words"].tolist() == ["a", "ü"]
    assert read_request(body(entry("words", "BYTES", [2], data=["a", "ü"])), None, [WORDS], [Y]).feeds[
        "words"
    ].tolist() == ["a", "ü"]


@pytest.mark.parametrize(
    ("text", "length", "message"),
    [
        (b"{", None, "not JSON"),
        (b"[" * 100_000, None, "not JSON"),
        (b"[]", None, "inputs"),
        (body(3), None, "not an object"),  # type: ignore[arg-type]
        (body(entry("z", data=[1, 2, 3])), None, "there is no input 'z'; inputs are x"),
        (body(entry(data=[1, 2, 3]), entry(data=[1, 2, 3])), None, "given twice"),
        (body(), None, "input x is missing"),
        (body(entry(datatype="FP64", data=[1, 2, 3])), None, "must be FP32"),
        (body(entry(shape=[1, 4], data=[1] * 4)), None, r"it must be \[-1, 3\]"),
        (body(entry(shape=[-1, 3], data=[])), None, "has no shape"),
        (body(entry(shape=[True, 3], data=[1] * 3)), None, "has no shape"),
        (body(entry(data=[1, 2])), None, "are not 3 values of FP32"),
        (body(entry(data=[[1, 2], [3]])), None, "are not 3 values"),
        (body(entry(data=["a", "b", "c"])), None, "are not 3 values"),
        (body(entry()), None, "no list data"),
        (body(entry(parameters={"binary_data_size": 12})), "10000", "not a length within the body"),
        (body(entry(parameters={"binary_data_size": 12})), "-1", "not a length within the body"),
        (body(entry(data=[1, 2, 3]), outputs=[{"name": "z"}]), None, "there is no output 'z'"),
        (body(entry(data=[1, 2, 3]), outputs=[3]), None, "there is no output"),
    ],
)  # fmt: skip
def test_a_bad_request_says_what_to_change(text: bytes, length: str | None, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        read_request(text, length, [X], [Y])


@pytest.mark.parametrize(("size", "rest"), [(12, b"\0" * 8), (8, b"\0" * 8), (12, b"\0" * 13), (-1, b"")])
def test_binary_sizes_must_fit(size: int, rest: bytes) -> None:
    head = body(entry(parameters={"binary_data_size": size}))
    with pytest.raises(RequestError):
        read_request(head + rest, str(len(head)), [X], [Y])


@pytest.mark.parametrize("data", [[1.5], [2**63], [None], [[[[1], 2]]]])
def test_integers_are_not_rounded(data: list[Any]) -> None:
    with pytest.raises(RequestError, match="are not 1 values of INT64"):
        read_request(body(entry("ids", "INT64", [1], data=data)), None, [IDS], [Y])


def test_a_response_is_json_or_bytes() -> None:
    y = np.array([[1.0, np.nan]], np.float32)
    request = read_request(body(entry(data=[1, 2, 3]), id="a"), None, [X], [Y])
    content, headers = write_response("m", "1", request, {"y": y}, [Y])
    assert headers == {"Content-Type": "application/json"}
    assert json.loads(content) == {
        "id": "a",
        "model_name": "m",
        "model_version": "1",
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [1.0, None]}],
    }
    asked = body(entry(data=[1, 2, 3]), parameters={"binary_data_output": True})
    content, headers = write_response("m", "1", read_request(asked, None, [X], [Y]), {"y": y}, [Y])
    split = int(headers[HEADER_LENGTH])
    assert json.loads(content[:split])["outputs"][0]["parameters"] == {"binary_data_size": 8}
    assert content[split:] == y.tobytes()
