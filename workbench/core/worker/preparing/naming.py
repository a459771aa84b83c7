"""Job: copy a model with a name for every node; external weights stay in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx

from workbench.core.models.naming import name_nodes


def run(source: str, target: str) -> dict[str, Any]:
    model = onnx.load(source, load_external_data=False)
    count = name_nodes(model)
    Path(target).write_bytes(model.SerializeToString())
    return {"named": count}
