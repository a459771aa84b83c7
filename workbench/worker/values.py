"""Model inputs and outputs as files: arrays, strings, sequences, optionals and maps, without pickle.

The file is a zip of `values.json`, which holds the nesting, and one raw `.bin` member per array. Element
types that numpy lacks (bfloat16, float8, int4…) are stored as bytes with the name of the type.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

Value: TypeAlias = Any
"""np.ndarray | str | None | list[Value] | dict[str | int, Value]: whatever ORT takes or returns."""

NOT_COMPARABLE = ": not comparable)"
"""How a text ends that stands for an output which Python cannot read."""

Feed: TypeAlias = Mapping[str, Value]


def write_values(path: Path | IO[bytes], feeds: Sequence[Feed]) -> None:
    """Write feeds in order, one mapping per run."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
        count = 0

        def encode(value: Value) -> Any:
            nonlocal count
            if value is None:
                return {"is": "none"}
            if isinstance(value, (list, tuple)):
                return {"is": "list", "items": [encode(item) for item in value]}
            if isinstance(value, Mapping):
                return {"is": "map", "items": [[encode(key), encode(item)] for key, item in value.items()]}
            if isinstance(value, (str, bytes)):
                text = value if isinstance(value, str) else value.decode("utf-8", "replace")
                return {"is": "text", "text": text}
            if isinstance(value, (bool, int, float)):
                return {"is": type(value).__name__, "value": value}
            array = np.asarray(value)
            if array.dtype.kind in "OUS":
                texts = [str(text) for text in array.reshape(-1)]
                return {"is": "texts", "shape": list(array.shape), "texts": texts}
            name = f"{count}.bin"
            count += 1
            with file.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                member.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            return {"is": "array", "dtype": array.dtype.name, "shape": list(array.shape), "member": name}

        tree = [{str(name): encode(value) for name, value in feed.items()} for feed in feeds]
        file.writestr("values.json", json.dumps(tree))


def read_values(path: Path | IO[bytes]) -> list[dict[str, Value]]:
    """Read the feeds from a file of `write_values`."""
    with zipfile.ZipFile(path) as file:

        def decode(node: dict[str, Any]) -> Value:
            kind = node["is"]
            if kind == "none":
                return None
            if kind == "list":
                return [decode(item) for item in node["items"]]
            if kind == "map":
                return {decode(key): decode(item) for key, item in node["items"]}
            if kind == "text":
                return node["text"]
            if kind in ("bool", "int", "float"):
                return node["value"]
            if kind == "texts":
                return np.array(node["texts"], dtype=object).reshape(node["shape"])
            raw = np.frombuffer(bytearray(file.read(node["member"])), dtype=np.uint8)
            return raw.view(_dtype(node["dtype"])).reshape(node["shape"])

        return [
            {name: decode(value) for name, value in feed.items()}
            for feed in json.loads(file.read("values.json"))
        ]


def _dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # imported only for models with such a type

        extended: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return extended
