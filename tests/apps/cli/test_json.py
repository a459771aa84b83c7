"""Every command that makes or shows a result prints it as JSON, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.models import tiny
from workbench.apps.cli import main, parser

WITHOUT = {  # what they print is no result, or they print something else
    "lab", "course", "check", "export", "report", "describe", "schema", "clean", "exercise",
}  # fmt: skip


def test_every_command_that_has_a_result_has_the_option() -> None:
    (group,) = (action for action in parser()._actions if isinstance(action.choices, dict))
    missing = set()
    for name, command in group.choices.items():
        command.complete()
        if "--json" not in command.format_help():
            missing.add(name)
    assert missing <= WITHOUT, missing


@pytest.mark.real
@pytest.mark.parametrize(
    "command",
    [
        "doctor", "samples", "history", "explain MODEL --no-history",
        "prepare MODEL --a precision=dynamic_int8",
        "findings MODEL", "first-difference MODEL --b level=basic",
    ],
)  # fmt: skip
def test_it_is_read_by_a_program(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tiny.save(tiny.mlp(), tmp_path))
    assert main([*(model if word == "MODEL" else word for word in command.split()), "--json"]) == 0
    json.loads(capsys.readouterr().out)
