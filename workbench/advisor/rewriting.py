"""Fixes that rewrite the model file."""

from __future__ import annotations

from workbench.advisor.evidence import Evidence
from workbench.records.findings import Fix

LEAST_SQNR_DB = 60.0  # the bound for any rewrite of float32


def rewrite_fix(evidence: Evidence, name: str, text: str, code: str = "") -> Fix:
    """Return a fix with this rewrite added to the config, or a text alone if the config has the rewrite."""
    config = evidence.config
    if name in config.rewrites:
        return Fix("rewrite", f"{text}; {name}, which the config has, cannot", rewrite=name, code=code)
    return Fix(
        "config",
        f"{text}: rewrites=({name!r},)",
        config=config.replace(rewrites=(*config.rewrites, name)),
        rewrite=name,
        code=code,
        least_sqnr_db=LEAST_SQNR_DB if config.precision is None else None,
    )
