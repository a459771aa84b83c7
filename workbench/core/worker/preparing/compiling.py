"""Job: write a model that holds what a provider compiled, as EPContext nodes, and try to load it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnxruntime as ort

from workbench.core.worker.session import CPU, make_session, member, providers_of, session_options

_EP_CONTEXT = b"\x22\x09EPContext"  # op_type of a NodeProto and its length: onnx may be missing


def run(source: str, target: str, plan: dict[str, Any], devices: list[str]) -> dict[str, Any]:
    """Compile the model for the providers of the plan; count their parts; try to load them.

    `devices` are those of the providers here: a file for others has another key.
    """
    compiler = member(ort, "ModelCompiler", "update onnxruntime, or leave saved_graph out")
    options = session_options(plan)
    for name, settings in providers_of(plan) or ():
        if name != CPU:
            options.add_provider(name, settings)
    compiler(options, source, embed_compiled_data_into_model=True).compile_to_file(target)
    parts = Path(target).read_bytes().count(_EP_CONTEXT)
    here = "; ".join(device.partition(" (")[0] for device in devices)
    fit = f"the compiled parts fit {here} and these versions: compile anew for others"
    return {"compiled_parts": parts, "problem": _problem(target, plan) if parts else None, "notes": [fit]}


def _problem(target: str, plan: dict[str, Any]) -> str | None:
    try:
        make_session(target, plan)
    except Exception as error:  # noqa: BLE001, providers raise what they like; the kernel says it
        return str(error)[:600]
    return None
