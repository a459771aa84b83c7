"""Where the numbers of threads of a session come from: the config, ORT's default, or the environment.

Standard library only: the worker imports this module.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from workbench.core.text import shorten

OBEYED_SINCE = (1, 29)  # ONNX Runtime 1.28 reads no such variable
CONFIG, DEFAULT = "config", "ORT's default"
VARIABLES = {  # of a session option; ORT reads each where the option is 0
    "intra_op_num_threads": "ORT_INTRA_OP_NUM_THREADS",
    "inter_op_num_threads": "ORT_INTER_OP_NUM_THREADS",
}


def thread_origins(attributes: Mapping[str, object], *, obeyed: bool) -> tuple[str, ...]:
    """Return the origin of the intra-op threads, then in parallel mode of the inter-op ones.

    `attributes` are the options that a session sets, `obeyed` is whether its ORT reads the variables. A
    variable is returned with its value, printable and cut.
    """
    parallel = attributes.get("execution_mode") == "ExecutionMode.ORT_PARALLEL"
    options = list(VARIABLES) if parallel else ["intra_op_num_threads"]
    return tuple(CONFIG if attributes.get(option) else _left_open(option, obeyed) for option in options)


def obeys(version: str) -> bool:
    """Return whether an ORT of this version reads the variables."""
    return tuple(int(part) for part in version.split(".")[:2]) >= OBEYED_SINCE


def variables_of(origins: Iterable[str]) -> tuple[str, ...]:
    """Return the origins that are variables of the environment."""
    return tuple(origin for origin in origins if origin not in (CONFIG, DEFAULT))


def _left_open(option: str, obeyed: bool) -> str:
    name = VARIABLES[option]
    value = os.environ.get(name, "") if obeyed else ""
    return f"{name}={shorten(value)}" if value.strip("0") else DEFAULT
