"""The JSON schema of a record, made from the same shapes that read and write the record.

`python -m workbench.results.registry` regenerates the files in workbench/records/schema.
"""

from __future__ import annotations

import json
from pathlib import Path

from workbench.records.codec import shape_of_class
from workbench.records.kinds import COMPARISONS, Kinds
from workbench.records.member import Manifest
from workbench.records.scalars import Schema
from workbench.records.upgrades import VERSION

FOLDER = Path(__file__).parent / "schema"


def json_schema(cls: type, title: str) -> Schema:
    """Return the JSON Schema (2020-12) of class `cls`."""
    defs: dict[str, Schema] = {}
    top = shape_of_class(cls).schema(defs)
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": title, **top, "$defs": defs}


def schemas(kinds: Kinds = COMPARISONS) -> dict[str, Schema]:
    """Return every schema by file name."""
    records = {
        f"{name.replace(' ', '-')}-{VERSION}.json": json_schema(
            kinds.named(name).cls, f"record.json of a {name}, version {VERSION}"
        )
        for name in kinds.names
    }
    return {f"manifest-{VERSION}.json": json_schema(Manifest, "manifest.json"), **records}


def as_text(schema: Schema) -> str:
    """Return the text of a schema file."""
    return json.dumps(schema, indent=1) + "\n"
