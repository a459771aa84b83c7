"""The JSON schema of a record, made from the same forms that read and write the record."""

from __future__ import annotations

import json

from workbench.core.bundle.codec import json_schema
from workbench.core.bundle.forms import Schema
from workbench.core.bundle.kinds import Kinds
from workbench.core.bundle.member import VERSION, Manifest

MANIFEST = "manifest"


def schema_of(name: str, kinds: Kinds) -> Schema:
    """Return the schema of a kind's record.json, or of manifest.json."""
    if name == MANIFEST:
        return json_schema(Manifest, "manifest.json")
    return json_schema(kinds.named(name).cls, f"record.json of a {name}, version {VERSION}")


def as_text(schema: Schema) -> str:
    """Return a schema as it is printed."""
    return json.dumps(schema, indent=1) + "\n"
