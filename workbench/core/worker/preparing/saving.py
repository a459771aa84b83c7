"""Job: save the graph that ORT optimizes for a config, as .onnx or in ORT's own format."""

from __future__ import annotations

import tempfile
from typing import Any

from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.conversions import DATA, is_large
from workbench.core.worker.session import make_session, weights_beside


def run(source: str, target: str, plan: dict[str, Any]) -> dict[str, Any]:
    """Save the graph; `plan` holds the config's settings for ORT."""
    with tempfile.TemporaryDirectory() as folder:
        if target.endswith(".ort"):
            source = files.whole(source, folder)
        else:
            beside = weights_beside(DATA) if is_large(source) else {}
            plan = {**plan, "entries": {**plan["entries"], **beside}}
        session = make_session(source, plan, optimized_model_filepath=target)
        return {"providers": session.get_providers(), "notes": []}
