"""Job: save the graph that ORT optimizes for a config, as .onnx or in ORT's own format.

Only ORT's own format needs onnx: an environment kept for a version of ONNX Runtime has none.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from workbench.core.worker.session import make_session, weights_beside


def run(source: str, target: str, plan: dict[str, Any], outside: bool) -> dict[str, Any]:
    """Save the graph, with weights `outside` the file; `plan` holds the config's settings for ORT."""
    with tempfile.TemporaryDirectory() as folder:
        if target.endswith(".ort"):
            from workbench.core.worker.preparing.conversions import whole

            source = whole(source, folder)
        elif outside:
            beside = weights_beside(f"{Path(target).name}.data")
            plan = {**plan, "entries": {**plan["entries"], **beside}}
        session = make_session(source, plan, optimized_model_filepath=target)
        return {"providers": session.get_providers(), "notes": []}
