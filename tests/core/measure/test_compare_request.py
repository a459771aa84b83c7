"""What may be asked, and how long a comparison may take when the user does not say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.factories.comparisons import ordinary
from workbench.core.bundle.comparison import InputsRecord, ModelRecord
from workbench.core.config import Config, DynamicInt8
from workbench.core.errors import ConfigError
from workbench.core.measure.compare_request import CompareRequest, check, default_budget_s, longest_s

REQUEST = CompareRequest(
    model=Path("m.onnx"),
    model_name="m",
    model_bytes=1,
    model_record=lambda: ModelRecord("m", "ab" * 32, 1, 0),
    configs=(Config(), Config()),
    feeds=[{}],
    inputs=InputsRecord("random, seed 0", 0, (), ()),
)


@pytest.mark.parametrize(
    ("run_s", "round_s", "budget_s"),
    [
        (0.0005, 0.9, 9.5),
        (0.001, 3.0, 9.5),
        (0.001, 10.0, 30.0),
        (0.01, 1.0, 12.0),
        (None, 1.0, 12.0),
        (0.2, 5.0, 30.0),
        (0.5, 25.0, 120.0),
        (2.0, 100.0, 300.0),
    ],
)
def test_small_models_are_quick_and_large_ones_get_rounds(
    run_s: float | None, round_s: float, budget_s: float
) -> None:
    assert default_budget_s(run_s, round_s) == budget_s


@pytest.mark.parametrize(
    ("default_s", "run_s", "seconds"),
    [
        (9.5, 0.0005, 60.0),
        (15.0, 0.01, 60.0),
        (90.0, 0.01, 90.0),
        (15.0, 0.011, 75.0),
        (120.0, 2.0, 180.0),
        (15.0, None, 75.0),
    ],
)
def test_an_open_answer_gets_a_minute_in_all_or_a_minute_more_for_slow_models(
    default_s: float, run_s: float | None, seconds: float
) -> None:
    assert longest_s(default_s, run_s) == seconds


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("budget_s", ["5", 0, -1.0, float("nan"), float("inf"), True, 10**400]),
        ("pacing_s", ["0.1", 0, float("nan"), True]),
        ("smallest_effect", [None, "1%", 0, 1.01, float("nan"), True]),
        ("tolerance", [None, "0", -1e-9, float("nan"), float("inf"), False]),
        ("seed", [None, -1, 1.0, "7", 2**63, 10**5000, True]),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=f"{name}=") as refused:
            check(replace(REQUEST, **{name: value}))
        assert refused.value.fix.startswith("give ")
        assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("budget_s", [None, 5, 0.1]),
        ("pacing_s", [None, 0.001]),
        ("smallest_effect", [0.001, 1, 1.0]),
        ("tolerance", [0, 0.0, 1e-3]),
        ("seed", [0, 7, 2**63 - 1]),
    ],
)
def test_what_can_be_used_is_taken(name: str, values: list[Any]) -> None:
    for value in values:
        check(replace(REQUEST, **{name: value}))


def test_two_configs_and_a_feed_are_needed() -> None:
    with pytest.raises(ConfigError, match="no comparison"):
        check(replace(REQUEST, configs=(Config(),)))
    with pytest.raises(ConfigError, match="no inputs"):
        check(replace(REQUEST, feeds=[]))


@pytest.mark.parametrize(
    ("configs", "steps"),
    [
        ((Config(), Config(level="basic")), ("loading, checking outputs", "measuring")),
        (
            (Config(), Config(precision=DynamicInt8())),
            ("preparing", "loading, checking outputs", "measuring"),
        ),
        ((Config(precision=DynamicInt8()),), ("preparing", "measuring")),
        ((Config(),), ("measuring",)),
    ],
)
def test_a_preparation_is_a_step_where_a_config_changes_the_model(
    configs: tuple[Config, ...], steps: tuple[str, ...]
) -> None:
    request = replace(REQUEST, configs=configs)
    assert request.steps == steps
    words = [request.step_in_words(step) for step in steps]
    if len(steps) == 1:
        assert words == [""]
    else:
        assert words == [f"step {at} of {len(steps)}, {step}" for at, step in enumerate(steps, 1)]


def test_what_is_no_step_of_a_measurement_has_no_number() -> None:
    assert REQUEST.step_in_words("preparing") == ""
    further: Any = replace(REQUEST, earlier=ordinary())
    assert further.steps == ("measuring",), "outputs were compared before"
