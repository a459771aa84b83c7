"""The commands that follow from the signatures of calls: what they refuse, and what they pass on."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.apps.cli import main
from workbench.features.variants import worth

COMPARISON = str(Path(__file__).parents[2] / "core/bundle/golden/comparison-2.ortbench")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("why-slower {comparison}", "--model MODEL"),
        ("why-slower {comparison} --seed 3", "--model MODEL"),
        ("why-slower {comparison} --model {model}", "is not the model of this result"),
        ("why-slower {comparison} --model {model} --a level=all", "a comparison has its configs"),
        ("why-slower {comparison} --model {model} --baseline level=all", "a comparison has its configs"),
        ("roofline {model} --budget -1", "budget_s=-1.0"),
        ("roofline {model} --budget nan", "budget_s=nan"),
        ("profile {model} --budget -1", "budget_s=-1.0"),
        ("layer-errors {model} --a precision=dynamic_int8 --items 0", "items=0"),
        ("sensitivity {model} --a precision=dynamic_int8 --items -2", "items=-2"),
        ("sensitivity {model} --a precision=dynamic_int8 --budget 0", "budget_s=0.0"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    model: str, capsys: pytest.CaptureFixture[str], command: str, said: str
) -> None:
    assert main(command.format(comparison=COMPARISON, model=model).split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert "Fix: " in captured.err


def test_the_smallest_effect_is_written_as_for_compare(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    effects = []

    @wraps(worth.ablate)
    def ablate(*_: Any, smallest_effect: float, **__: Any) -> Any:
        effects.append(smallest_effect)
        raise wb.WorkbenchError("nothing is measured", "none")

    monkeypatch.setattr(worth, "ablate", ablate)
    for written in ((), ("--smallest-effect", "2%"), ("--smallest-effect", "0.03")):
        assert main(["ablate", model, *written]) == 2
    assert effects == [0.01, 0.02, 0.03]
