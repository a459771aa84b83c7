"""Every step on the small samples: it works, or refuses with a reason that is true; nothing crashes."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.core.config import Config, DynamicInt8, Float16, StaticInt8, TransformerFusion, WeightOnly
from workbench.core.errors import PrepareError
from workbench.core.measure.agreement import compare_outputs
from workbench.core.models.loading import load
from workbench.core.models.model import Model
from workbench.core.prepare.preparing import prepare
from workbench.core.prepare.runnable import cast_feeds
from workbench.core.worker.session import make_session

FEW = 8  # calibration examples: whether it works, not how well
CONFIGS: dict[str, Config] = {
    "float32": Config(),
    "fusion": Config(fusion=TransformerFusion()),
    "dynamic": Config(precision=DynamicInt8()),
    "static qdq": Config(precision=StaticInt8(samples=FEW)),
    "static qoperator": Config(precision=StaticInt8(format="qoperator", samples=FEW)),
    "static entropy": Config(precision=StaticInt8(calibrator="entropy", samples=2)),
    "static percentile": Config(precision=StaticInt8(calibrator="percentile", samples=2)),
    "static distribution": Config(precision=StaticInt8(calibrator="distribution", samples=2)),
    "weights 4": Config(precision=WeightOnly()),
    "weights 8": Config(precision=WeightOnly(bits=8)),
    "float16": Config(precision=Float16()),
    "float16 io": Config(precision=Float16(keep_io=False)),
    "saved onnx": Config(saved_graph="onnx"),
    "saved ort": Config(saved_graph="ort"),
    "fused float16": Config(fusion=TransformerFusion(), precision=Float16()),
    "fused dynamic": Config(fusion=TransformerFusion(), precision=DynamicInt8()),
    "dynamic saved": Config(precision=DynamicInt8(), saved_graph="onnx"),
}
NO_ATTENTION = "the graph has no attention"
REFUSED = {
    ("digits-conv", "fusion"): NO_ATTENTION,
    ("digits-conv", "fused float16"): NO_ATTENTION,
    ("digits-conv", "fused dynamic"): NO_ATTENTION,
}


def outputs(model: Model, config: Config, feeds: Any) -> list[dict[str, Any]]:
    """Return what a session of the file gives."""
    session = make_session(str(model.path), config.plan().to_dict(), log_severity_level=3)
    names = [output.name for output in session.get_outputs()]
    cast = cast_feeds(feeds, model)
    return [dict(zip(names, session.run(names, dict(feed)), strict=True)) for feed in cast]


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("step", CONFIGS)
@pytest.mark.parametrize(
    "sample",
    ["digits-conv", *(pytest.param(name, marks=pytest.mark.release) for name in ("digits-vit", "char-gpt"))],
)
def test_a_step_works_or_refuses(sample: str, step: str) -> None:
    model = load(sample)
    feeds = model.inputs(seed=1).feeds
    why = REFUSED.get((sample, step))
    if why is not None:
        with pytest.raises(PrepareError, match=why):
            prepare(model, CONFIGS[step])
        return
    prepared = prepare(model, CONFIGS[step])
    made = outputs(prepared.model, prepared.config, feeds)
    assert compare_outputs("B", outputs(model, Config(), feeds), made, least_sqnr_db=10.0)


@pytest.mark.real
def test_what_came_quantized_is_not_quantized_again() -> None:
    with pytest.raises(PrepareError, match="quantized already"):
        prepare(load("digits-conv-qat"), CONFIGS["static qdq"])
