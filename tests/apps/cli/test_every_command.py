"""Every command of a feature, its call faked: words, table, JSON and exit code, and what the call gets."""

from __future__ import annotations

import csv
import inspect
import io
import json
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from workbench.apps.cli import main
from workbench.core.feature import function_at
from workbench.core.measure.gates import exit_code
from workbench.features.base.registry import KINDS

LINES = {  # of calls that take something else than a model, or more
    "versions": "MODEL --environments /old",
    "replay": "MODEL --shapes 1,2",
    "layer errors": "MODEL --a precision=dynamic_int8",
    "sensitivity": "MODEL --a precision=dynamic_int8",
    "peaks": "",
    "comparison": "MODEL --b level=basic",
    "deployment": "MODEL folder",
    "published files": "FOLDER",
}
RECEIVED: dict[str, tuple[str, dict[str, Any]]] = {  # a command → the function that it calls, what that gets
    "compare MODEL --b level=basic --tolerance 0.1 --least-sqnr-db 20 --clock cpu --npz NPZ": (
        "compare.call:compare", {"tolerance": 0.1, "least_sqnr_db": 20.0, "clock": "cpu", "inputs": "NPZ"}
    ),
    "compare MODEL SECOND --rename-output y=z": ("compare.call:compare", {"outputs": {"y": "z"}}),
    "compare MODEL SECOND --ignore-outputs": ("compare.call:compare", {"outputs": "ignore"}),
    "published FOLDER --only t*.onnx --npz NPZ": (
        "published:published", {"only": "t*.onnx", "inputs": "NPZ"}
    ),
    "measure MODEL --percentile 50 --percentile 95,99 --until settled": (
        "measure:measure", {"percentiles": [50.0, 95.0, 99.0], "until": "settled"}
    ),
    "measure MODEL --allow-fallback --pacing 0.1": (
        "measure:measure", {"allow_fallback": True, "pacing_s": 0.1}
    ),
    "load-test MODEL --rate 5 --duration 3 --max-p99 20": (
        "load.call:load_test", {"rate_hz": 5.0, "duration_s": 3.0, "max_p99_s": 0.02}
    ),
    "decode MODEL --prompt 5,6,7 --batch 4": ("decode.call:decode", {"prompt": [5, 6, 7], "batch": 4}),
    "measure-pipelines MODEL --against SECOND MODEL --seed 3": (
        "pipelines.call:measure_pipelines", {"seed": 3, "budget_s": 30.0}
    ),
    "matrix MODEL SECOND --b level=basic --npz NPZ -o BUNDLE": (
        "grid.calls:matrix", {"inputs": "NPZ", "file": "BUNDLE"}
    ),
    "explain MODEL --passes on --profile": ("explain.calls:explain", {"passes": True, "profile": True}),
    "profile MODEL --per-node-memory --by node": ("profile.calls:profile", {"per_node_memory": True}),
    "accuracy MODEL --metric f1 --metric-output y": (
        "accuracy.result:accuracy", {"metric": "f1", "output": "y"}
    ),
    "findings MODEL --seed 3": ("findings.result:findings", {"seed": 3}),
    "deploy MODEL folder --kind triton --concurrency 3 --fallback": (
        "deploy.result:deploy", {"kind": "triton", "concurrency": 3, "fallback": True}
    ),
    "deploy MODEL folder": ("deploy.result:deploy", {}),
}  # fmt: skip


@pytest.fixture
def words(tmp_path: Path) -> dict[str, str]:
    """Return the files that stand for the words of a command."""
    model, second = (str(tiny.save(tiny.mlp(), tmp_path, name)) for name in ("tiny.onnx", "tiny_fp16.onnx"))
    npz = tmp_path / "inputs.npz"
    np.savez(npz, x=np.zeros((1, 4), np.float32))
    places = {"FOLDER": str(tmp_path), "BUNDLE": str(tmp_path / "made.ortbench")}
    return {"MODEL": model, "SECOND": second, "NPZ": str(npz), **places}


def said(line: str, words: dict[str, str]) -> list[str]:
    return [words.get(word, word) for word in line.split()]


@pytest.mark.parametrize("kind", [offer.name for offer in KINDS.commands])
def test_it_prints_words_a_table_and_json_and_ends_as_its_gates_say(
    kind: str, words: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    feature, result = KINDS.named(kind), examples.every_kind()[kind]
    monkeypatch.setattr("workbench.apps.cli.features.function_at", lambda _: lambda *_, **__: result)
    options: dict[str, Any] = {}
    if feature.gates is not None:
        options = {"fail_if": ()} if "fail_if" in inspect.signature(feature.gates).parameters else {}
    code = exit_code(() if feature.gates is None else feature.gates(result.record, **options))
    line = [feature.offer.command_name, *said(LINES.get(kind, "MODEL"), words)]
    assert main(line) == code
    assert str(result).splitlines()[0][:20] in capsys.readouterr().out
    assert main([*line, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["id"] == result.about.id
    assert main([*line, "--csv"]) == code
    header, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert header
    assert all(len(row) == len(header) for row in rows)


@pytest.mark.parametrize("line", RECEIVED)
def test_its_options_reach_the_call(
    line: str, words: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, expected = RECEIVED[line]
    module, _, name = f"workbench.features.{place}".partition(":")
    function = function_at(f"{module}:{name}")
    (made,) = (examples.every_kind()[kind.name] for kind in KINDS if kind.call and kind.public_name == name)
    received: dict[str, Any] = {}

    @wraps(function)
    def call(*_: Any, **options: Any) -> Any:
        received.update(options)
        return made

    monkeypatch.setattr(f"{module}.{name}", call)
    main(said(line, words))
    defaults = {key: parameter.default for key, parameter in inspect.signature(function).parameters.items()}
    changed = {key: value for key, value in received.items() if value != defaults[key]}
    wanted = {key: words.get(str(value), value) for key, value in expected.items()}
    assert wanted.items() <= received.items()
    assert {*changed} <= {*wanted, "progress", "models", "configs"}


def test_further_files_have_the_configs_of_their_letters(
    words: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[Any] = []
    made = examples.every_kind()["first difference"]

    def call(*subjects: Any, **_: Any) -> Any:
        received.extend(subjects)
        return made

    monkeypatch.setattr("workbench.apps.cli.features.function_at", lambda _: call)
    assert main(["first-difference", *said("MODEL SECOND --b level=basic", words)]) == 0
    assert received == [(words["MODEL"], wb.Config()), (words["SECOND"], wb.Config(level="basic"))]


def test_a_matrix_is_saved_by_its_call_alone(
    words: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = examples.every_kind()["matrix"]
    monkeypatch.setattr("workbench.apps.cli.features.function_at", lambda _: lambda *_, **__: made)
    main(["matrix", *said("MODEL SECOND --b level=basic -o BUNDLE", words)])
    assert "saved" not in capsys.readouterr().err
    assert not Path(words["BUNDLE"]).exists()


def test_what_is_no_list_of_numbers_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load-test", "digits-conv", "--callers", "1,x"]) == 2
    assert "'1,x' is no list of whole numbers: 1,2,4" in capsys.readouterr().err
