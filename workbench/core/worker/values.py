"""Model inputs and outputs as files: arrays, strings, sequences, optionals and maps, without pickle.

The file is a zip of `values.json`, which holds the nesting, and one raw `.bin` member per array. Element
types that numpy lacks (bfloat16, float8) are stored as bytes with the name of the type.
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
            if value is None or isinstance(value, (str, int, float)):
                return value
            if isinstance(value, bytes):
                return value.decode("utf-8", "replace")
            if isinstance(value, (list, tuple)):
                return [encode(item) for item in value]
            if isinstance(value, Mapping):
                return {"map": [[encode(key), encode(item)] for key, item in value.items()]}
            array = np.asarray(value)
            if array.dtype.kind in "OUS":
                return {"texts": [str(text) for text in array.reshape(-1)], "shape": array.shape}
            name = f"{count}.bin"
            count += 1
            with file.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                member.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            return {"member": name, "dtype": array.dtype.name, "shape": array.shape}

        tree = [{str(name): encode(value) for name, value in feed.items()} for feed in feeds]
        file.writestr(zipfile.ZipInfo("values.json"), json.dumps(tree))  # dated 1980, whatever the clock says


def read_values(path: Path | IO[bytes]) -> list[dict[str, Value]]:
    """Read the feeds from a file of `write_values`."""
    with zipfile.ZipFile(path) as file:

        def decode(node: Any) -> Value:
            if isinstance(node, list):
                return [decode(item) for item in node]
            if not isinstance(node, dict):
                return node
            if "map" in node:
                return {decode(key): decode(item) for key, item in node["map"]}
            if "texts" in node:
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
