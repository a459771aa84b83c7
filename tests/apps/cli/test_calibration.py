"""`--calibration DATA` reaches every call that takes `calibration=`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest

import workbench as wb
from tests.factories.comparisons import ordinary
from workbench.apps.cli import main
from workbench.core.feature import function_at

COMMANDS = (
    "compare", "measure", "load-test", "sweep", "decode", "matrix", "compare-versions", "explain", "levels",
    "profile", "threads", "accuracy", "prepare", "findings", "improve", "deploy", "tune",
)  # fmt: skip
CALLS = {  # a command, where MODEL is a file → the functions that it calls
    "compare MODEL --b level=basic": ("compare.call.compare",),
    "check MODEL --against MODEL": ("compare.call.compare",),
    "measure MODEL": ("measure.measure",),
    "sweep MODEL --over batch=1,2": ("grid.calls.sweep",),
    "load-test MODEL": ("load.call.load_test",),
    "decode MODEL": ("decode.call.decode",),
    "compare-versions MODEL --environments /old": ("variants.versions.compare_versions",),
    "deploy MODEL folder": ("deploy.result.deploy",),
    "tune MODEL": ("tune.call.default_space", "tune.call.tune"),
}


class Reached(Exception):
    """The last call of a command was reached, and nothing was measured."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_whose_call_takes_it_has_the_option(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "calibration" in inspect.signature(getattr(wb, command.replace("-", "_"))).parameters
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "--calibration DATA" in capsys.readouterr().out


@pytest.mark.parametrize(("command", "functions"), CALLS.items())
def test_the_data_reach_the_call(
    command: str, functions: tuple[str, ...], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: dict[str, Any] = {}

    def fake(function: str) -> Callable[..., wb.Space]:
        module, _, name = function.rpartition(".")

        @wraps(function_at(f"workbench.features.{module}:{name}"))
        def call(*_: Any, **options: Any) -> wb.Space:
            received[function] = options["calibration"]
            if function == functions[-1]:
                raise Reached
            return wb.Space.of(level=("basic",))

        return call

    for function in functions:
        made = fake(function)
        monkeypatch.setattr(f"workbench.features.{function}", made)
        monkeypatch.setattr(wb, function.rpartition(".")[2], made)
    with pytest.raises(Reached):
        main([*(model if word == "MODEL" else word for word in command.split()), "--calibration", "photos"])
    assert received == dict.fromkeys(functions, "photos")


def test_a_comparison_goes_on_with_the_data(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    received: dict[str, Any] = {}

    def attach(*_: Any, **options: Any) -> Any:
        received.update(options)
        raise Reached

    monkeypatch.setattr("workbench.features.compare.result.Comparison.attach", attach)
    monkeypatch.setattr("workbench.features.compare.call.open", lambda _: wb.Comparison(ordinary()))
    with pytest.raises(Reached):
        main(["compare", model, "--more", "saved.ortbench", "--calibration", "photos"])
    assert received["calibration"] == "photos"
