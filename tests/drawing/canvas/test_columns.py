"""Numbers arrive in the browser as they were, absent ones as absent."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.drawing.canvas.columns import ALIGN, pack, unpack

WHOLE = st.lists(st.integers(0, 2**32 - 1), max_size=20)
REAL = st.lists(st.none() | st.floats(allow_nan=False, width=32), max_size=20)


@given(WHOLE, REAL, WHOLE)
def test_columns_come_back(first: list[int], second: list[float | None], third: list[int]) -> None:
    table, block = pack({"first": first, "second_f": second, "third": third})
    assert all(offset % ALIGN == 0 for _, offset, _ in table.values())
    found = unpack(table, block)
    assert found["first"].tolist() == first
    assert found["third"].tolist() == third
    back = [None if math.isnan(value) else value for value in found["second_f"].tolist()]
    assert back == second
    assert found["second_f"].dtype == np.dtype("<f4")
