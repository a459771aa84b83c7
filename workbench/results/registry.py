"""Every kind of record there is, so that any bundle opens; each one's module is imported when it is needed.

`python -m workbench.results.registry` writes the JSON schemas in workbench/records/schema anew.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from workbench.records.json_schema import FOLDER, as_text, schemas
from workbench.records.kinds import Kind, Kinds, comparison_kind

_HOMES = {  # the function that makes it
    "explanation": "workbench.analysis.saved:explanation_kind",
    "ablation": "workbench.analysis.saved:ablation_kind",
    "levels": "workbench.analysis.saved:levels_kind",
    "profile": "workbench.analysis.profile.saved:kind",
    "memory": "workbench.analysis.memory.by_node:kind",
    "roofline": "workbench.analysis.roofline.node_limits:kind",
    "peaks": "workbench.analysis.roofline.peaks:kind",
    "cold start": "workbench.analysis.cold_start:kind",
    "memory settings": "workbench.analysis.memory.settings:kind",
    "accuracy": "workbench.records.fidelity:kind",
    "layer errors": "workbench.records.layers:kind",
    "sensitivity": "workbench.records.sensitivity:kind",
    "why slower": "workbench.records.reasons:kind",
    "thread scaling": "workbench.analysis.threads.scaling:kind",
}


def _from(home: str) -> Callable[[], Kind]:
    def made() -> Kind:
        module, name = home.split(":")
        found: Kind = getattr(import_module(module), name)()
        return found

    return made


KINDS = Kinds({"comparison": comparison_kind} | {name: _from(home) for name, home in _HOMES.items()})


def main() -> None:
    """Write the schemas of today's version; those of earlier ones stay."""
    for name, schema in schemas(KINDS).items():
        (FOLDER / name).write_text(as_text(schema), "utf-8")


if __name__ == "__main__":
    main()
