"""Every step on the small samples: it works, or refuses with a reason that is true; nothing crashes."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.prepare_all import CONFIGS, one, outputs
from workbench.core.config import Config
from workbench.core.models.loading import load

NO_ATTENTION = "the graph has no attention"
REFUSED = {
    ("digits-conv", "fusion"): NO_ATTENTION,
    ("digits-conv", "fused float16"): NO_ATTENTION,
    ("digits-conv", "fused dynamic"): NO_ATTENTION,
}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("step", CONFIGS)
@pytest.mark.parametrize("sample", ["digits-conv", "digits-vit", "char-gpt"])
def test_a_step_works_or_refuses(sample: str, step: str) -> None:
    model = load(sample)
    feeds = model.inputs(seed=1).feeds
    row: dict[str, Any] = one(model, CONFIGS[step], feeds, outputs(model, Config(), feeds))
    why = REFUSED.get((sample, step))
    assert row["result"] == ("ok" if why is None else "refused"), row
    if why is not None:
        assert why in row["why"]


@pytest.mark.real
def test_what_came_quantized_is_not_quantized_again() -> None:
    model = load("digits-conv-qat")
    row = one(model, CONFIGS["static qdq"], model.inputs(seed=1).feeds, [])
    assert row["result"] == "refused"
    assert "quantized already" in row["why"]
