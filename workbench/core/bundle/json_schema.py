"""The JSON schema of a record, made from the same shapes that read and write the record."""

from __future__ import annotations

import json

from workbench.core.bundle.codec import shape_of_class
from workbench.core.bundle.kinds import Kinds
from workbench.core.bundle.member import Manifest
from workbench.core.bundle.scalars import Schema
from workbench.core.bundle.upgrades import VERSION

MANIFEST = "manifest"


def json_schema(cls: type, title: str) -> Schema:
    """Return the JSON Schema (2020-12) of class `cls`."""
    defs: dict[str, Schema] = {}
    top = shape_of_class(cls).schema(defs)
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": title, **top, "$defs": defs}


def schema_of(name: str, kinds: Kinds) -> Schema:
    """Return the schema of a kind's record.json, or of manifest.json."""
    if name == MANIFEST:
        return json_schema(Manifest, "manifest.json")
    return json_schema(kinds.named(name).cls, f"record.json of a {name}, version {VERSION}")


def as_text(schema: Schema) -> str:
    """Return a schema as it is printed."""
    return json.dumps(schema, indent=1) + "\n"
