"""The two tables that all random weights come from."""

import hashlib
from statistics import NormalDist

import numpy as np
import pytest

from sample_models import quantiles

DIGESTS = {  # of the bytes, as they came out when the skeletons were made
    quantiles.normal: "29a81960a58ec480f0f9c25061d44fe26a428a1573167f2ccba8d57d5a9f1b8c",
    quantiles.uniform: "68a3074a3c5963e9ec6e9871506669c710e8bbfb8a137bb228e0c14ae1d2641b",
}


def test_normal_quantiles_are_those_of_the_normal_distribution():
    table = quantiles.normal()
    count = quantiles.LEVEL_COUNT
    exact = np.array([NormalDist().inv_cdf((i + 0.5) / count) for i in range(count)])
    np.testing.assert_allclose(table[100:-100], exact[100:-100], atol=1e-6)
    np.testing.assert_allclose(table, exact, atol=0.01)  # the last steps of the tail are coarse
    assert table.std() == pytest.approx(1, abs=2e-5)


@pytest.mark.parametrize("table", [quantiles.normal, quantiles.uniform])
def test_tables_rise_mirror_and_cannot_be_written(table):
    values = table()
    assert len(values) == quantiles.LEVEL_COUNT
    assert (np.diff(values) > 0).all()
    np.testing.assert_array_equal(values, -values[::-1])
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 0


@pytest.mark.parametrize(("table", "digest"), DIGESTS.items())
def test_tables_are_the_same_on_every_machine(table, digest):
    assert hashlib.sha256(table().astype("<f8").tobytes()).hexdigest() == digest
