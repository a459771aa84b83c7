"""wb.accuracy as a notebook calls it."""

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.real

FLOAT, INT8 = wb.Config(), wb.Config(precision=wb.DynamicInt8())


@pytest.fixture(scope="module")
def table():
    return wb.accuracy("digits-conv", FLOAT, INT8, items=60, progress=False)


def test_accuracy_and_errors_of_a_prepared_config(table):
    frame = table.to_frame()
    assert frame["accuracy"].min() > 0.9
    assert 0 < frame["rms_error"][1] < 0.3
    assert table.within(100) == {"B": True}
    assert table.record.metric == "top-1 accuracy"
    assert set(table.fidelity_frame()["output"]) == {"logits"}


def test_a_config_that_cannot_be_prepared_says_why():
    broken = wb.Config(precision=wb.DynamicInt8(exclude=("no such node",)))
    result = wb.accuracy("digits-conv", FLOAT, broken, FLOAT, items=2, progress=False)
    assert "no such node" in result.record.score("B").problem
    assert result.record.score("C").score is not None


def test_the_users_own_metric_runs_here():
    result = wb.accuracy(
        "digits-conv",
        FLOAT,
        items=20,
        progress=False,
        metric=lambda outputs, labels: outputs["logits"][:, 0] * 0 + 0.5 + 0 * labels,
    )
    assert result.scores[0].score.value == 0.5


def test_random_inputs_have_an_error_and_no_accuracy():
    pixels = np.random.default_rng(0).random((9, 1, 64, 64)).astype(np.float32)
    result = wb.accuracy("digits-conv", FLOAT, INT8, data={"pixels": pixels}, progress=False)
    assert result.record.metric is None
    assert result.record.error("B") > 0
    with pytest.raises(wb.ConfigError, match="needs labels"):
        wb.accuracy("digits-conv", FLOAT, data={"pixels": pixels}, metric="top1", progress=False)


def test_a_fixed_first_dimension_fixes_the_batch():
    fixed = wb.Config(free_dimensions={"batch": 4})
    result = wb.accuracy("digits-conv", FLOAT, fixed, items=8, progress=False)
    assert result.record.data.batch_count == 4
    with pytest.raises(wb.ConfigError, match="first dimension"):
        wb.accuracy("digits-conv", wb.Config(free_dimensions={"batch": 2}), fixed, progress=False)
