"""The documented schema is what the code does."""

from __future__ import annotations

import functools
import io
import json
import zipfile
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from tests.amount import amount
from tests.core.bundle.hostile import good_members
from tests.core.bundle.strategies import comparisons
from tests.factories.records import comparison, failed_run
from workbench.apps.cli import main
from workbench.core.bundle.bundle import pack_record
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.json_schema import MANIFEST, as_text, schema_of
from workbench.features.base.registry import KINDS

SCHEMAS = {name: schema_of(name, KINDS) for name in (MANIFEST, *KINDS.names)}


@functools.cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(SCHEMAS[name])


def validate(data: Any, name: str) -> None:
    validator(name).validate(data)


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out.splitlines() == [*SCHEMAS]
    assert main(["schema", "cold start"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMAS["cold start"]
    assert main(["schema", "no such kind"]) == 2
    error = capsys.readouterr().err
    assert "'no such kind' is no kind of result" in error
    assert "comparison" in error


def test_the_schemas_are_schemas() -> None:
    """What several of them define alike is checked once."""
    definitions = {as_text(part): part for schema in SCHEMAS.values() for part in schema["$defs"].values()}
    parts = {str(number): part for number, part in enumerate(definitions.values())}
    records = [{key: part for key, part in schema.items() if key != "$defs"} for schema in SCHEMAS.values()]
    jsonschema.Draft202012Validator.check_schema({"$defs": parts, "allOf": records})
    for wrong in ({"$defs": {"0": {"type": "run"}}}, {"allOf": [{"type": "run"}]}):
        with pytest.raises(jsonschema.SchemaError):
            jsonschema.Draft202012Validator.check_schema(wrong)


def record_json(record: ComparisonRecord) -> Any:
    with zipfile.ZipFile(io.BytesIO(pack_record(record, None, private=True))) as archive:
        return json.loads(archive.read("record.json"))


@pytest.mark.parametrize("record", [comparison(), comparison(candidate=failed_run())])
def test_real_records_fit(record: ComparisonRecord) -> None:
    validate(record_json(record), "comparison")


@given(comparisons())
@settings(max_examples=amount(15, 4))
def test_any_record_fits(record: ComparisonRecord) -> None:
    validate(record_json(record), "comparison")


def test_the_manifest_fits() -> None:
    validate(json.loads(good_members()["manifest.json"]), MANIFEST)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("runs", 0, "label"), 3),
        (("runs", 0, "processes", 0, "load_s"), -1),
        (("runs", 0, "more"), 1),
        (("verdicts", 0, "kind"), "best"),
        (("inputs", "shapes", 0), ["a", "b", "c"]),
    ],
)
def test_what_the_reader_refuses_does_not_fit(place: tuple[Any, ...], value: Any) -> None:
    data = record_json(comparison())
    node = data
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        validate(data, "comparison")
