"""A keyword that a call does not take is refused with the one that was meant."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb


@pytest.mark.parametrize(
    ("call", "keyword", "meant"),
    [
        (wb.compare, "limits", "worker_limits=wb.Limits(…)"),
        (wb.sweep, "limits", "worker_limits=wb.Limits(…)"),
        (wb.measure, "budget", "Did you mean 'budget_s'?"),
        (wb.compare, "subjects", "It takes model, *subjects, "),
        (wb.decode, "promt", "Did you mean 'prompt'?"),
        (wb.improve, "limit", "Did you mean 'limits'?"),
    ],
)
def test_a_wrong_keyword_is_named_with_the_right_one(call: Any, keyword: str, meant: str) -> None:
    with pytest.raises(wb.ConfigError, match=f"takes no '{keyword}'") as refused:
        call("digits-conv", **{keyword: None})
    assert meant in refused.value.fix


def test_a_dim_called_limits_stands_in_sizes() -> None:
    with pytest.raises(wb.ConfigError, match="has no free dimension 'limits'"):
        wb.sweep("digits-conv", sizes={"limits": (1, 2)})
