"""The environment variables from which ORT takes a number of threads that the session leaves open."""

from __future__ import annotations

import os
from collections.abc import Mapping

VARIABLES = {  # of a session option; ORT 1.31.1 reads each where the option is 0
    "intra_op_num_threads": "ORT_INTRA_OP_NUM_THREADS",
    "inter_op_num_threads": "ORT_INTER_OP_NUM_THREADS",
}


def variables_in_effect(attributes: Mapping[str, object]) -> tuple[str, ...]:
    """Return "NAME='value'" of each variable that decides, given the options that a session sets.

    The inter-op threads exist in parallel mode only.
    """
    open_options = [name for name in VARIABLES if not attributes.get(name)]
    if attributes.get("execution_mode") != "ExecutionMode.ORT_PARALLEL":
        open_options = [name for name in open_options if name != "inter_op_num_threads"]
    names = [VARIABLES[option] for option in open_options]
    return tuple(
        f"{name}={os.environ[name]!r}" for name in names if os.environ.get(name, "0") not in ("", "0")
    )
