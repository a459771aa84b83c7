"""Element types that numpy lacks: their names and their numbers."""

from __future__ import annotations

import re
from typing import NamedTuple


class Exotic(NamedTuple):
    """An element type that ml_dtypes has and numpy lacks; ORT accepts such a tensor as an OrtValue only."""

    dtype: str  # its name in ml_dtypes
    number: int  # in TensorProto


EXOTIC = {  # by ORT's name
    "bfloat16": Exotic("bfloat16", 16),
    "float8e4m3fn": Exotic("float8_e4m3fn", 17),
    "float8e4m3fnuz": Exotic("float8_e4m3fnuz", 18),
    "float8e5m2": Exotic("float8_e5m2", 19),
    "float8e5m2fnuz": Exotic("float8_e5m2fnuz", 20),
}
UNREADABLE = frozenset({"uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2"})
BY_DTYPE = {exotic.dtype: exotic for exotic in EXOTIC.values()}
ELEMENT = re.compile(r"tensor\((\w+)\)")  # also inside seq(…) and optional(…)
