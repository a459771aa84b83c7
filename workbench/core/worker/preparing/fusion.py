"""Job: run ORT's transformer optimizer without its own call of ORT, which needs torch."""

from __future__ import annotations

from typing import Any

from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.conversions import fuse


def run(source: str, target: str, **settings: Any) -> dict[str, Any]:
    return files.answer(source, target, [], fused=fuse(source, target, **settings))
