"""The public calls that take more than a few seconds, or more than a model and configs, on a tiny model."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import workbench as wb
from tests.core.models import tiny
from tests.core.models.decoders import decoder

QUICK: dict[str, Any] = {"budget_s": 0.2, "progress": False, "keep": False}
SHOWN_NOWHERE: dict[str, Any] = {"progress": False, "keep": False}
INT8 = wb.Config(precision=wb.DynamicInt8())
BASIC = wb.Config(level="basic")


def decoding(model: Path) -> wb.Decoding:
    language_model = tiny.save(decoder(), model.parent, "decoder.onnx")
    return wb.decode(language_model, prompt=3, tokens=3, **QUICK)


def model_files(model: Path) -> wb.ModelFiles:
    return wb.compare(model, wb.Config(), INT8, **QUICK).files()


def pipelines(model: Path) -> wb.Pipelines:
    return wb.measure_pipelines(wb.Pipeline([model]), wb.Pipeline([(model, BASIC)]), **QUICK)


def published(model: Path) -> wb.Published:
    shutil.copyfile(model, model.with_name("tiny_fp16.onnx"))
    return wb.published(model.parent, **QUICK)


def replay(model: Path) -> wb.Replay:
    encoder = tiny.save(tiny.bert_like(), model.parent, "encoder.onnx")
    return wb.replay(encoder, [3, 5, 3], passes=2, **SHOWN_NOWHERE)


def study(model: Path) -> wb.Study:
    return wb.tune(model, wb.Space.of(level=("basic",)), budget_s=5.0, **SHOWN_NOWHERE)


CALLS: dict[str, Callable[[Path], Any]] = {  # by feature; each takes a model that is alone in its folder
    "ablation": lambda model: wb.ablate(model, **QUICK),
    "decoding": decoding,
    "deployment": lambda model: wb.deploy(model, wb.Config(), model.parent / "served"),
    "improvement": lambda model: wb.improve(model, BASIC, budget_s=5.0, **SHOWN_NOWHERE),
    "matrix": lambda model: wb.matrix([model], [wb.Config(), BASIC], **QUICK),
    "memory settings": lambda model: wb.memory_settings(model, budget_s=0.1, progress=False),
    "model files": model_files,
    "peaks": lambda _: wb.peaks([1]),
    "pipelines": pipelines,
    "published files": published,
    "replay": replay,
    "roofline": lambda model: wb.roofline(model, budget_s=0.05),
    "sensitivity": lambda model: wb.sensitivity(model, INT8, items=2, progress=False),
    "study": study,
    "sweep": lambda model: wb.sweep(model, batch=(1, 2), **QUICK),
    "versions": lambda model: wb.compare_versions(model, [sys.executable], **QUICK),
    "why slower": lambda model: wb.why_slower(model, INT8, budget_s=0.2, progress=False),
}
