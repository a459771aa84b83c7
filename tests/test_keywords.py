"""A keyword means one thing in every public call: `limits` are those of a config, not of a process."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import workbench as wb

MEANINGS = {"limits": "Goal", "worker_limits": "Limits", "cancel": "Event", "keep": "bool"}


def public_calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function, and every public method of a public class, by name."""
    for name in wb.__all__:
        value = getattr(wb, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("workbench."):
                    yield f"{name}.{method}", function


def test_a_keyword_has_one_meaning() -> None:
    seen, wrong = set(), []
    for call, function in public_calls():
        for keyword, parameter in inspect.signature(function).parameters.items():
            if keyword in MEANINGS:
                seen.add(keyword)
                words = str(parameter.annotation).replace("|", " ").replace(".", " ").split()
                if MEANINGS[keyword] not in words:
                    wrong.append(f"{call}({keyword}: {parameter.annotation})")
    assert seen == MEANINGS.keys()
    assert wrong == []


@pytest.mark.parametrize("call", [wb.tune, wb.improve, wb.default_space], ids=lambda call: call.__name__)
def test_the_limits_of_a_process_are_no_limits_of_a_config(call: Callable[..., Any]) -> None:
    with pytest.raises(wb.WorkbenchError, match=r"is no wb\.Goal") as refused:
        call("digits-conv", limits=wb.Limits())
    assert "worker_limits" in refused.value.fix
