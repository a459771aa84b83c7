"""What a form shows before a person types fits the open model: it is read, and the call accepts it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper

import workbench as wb
from tests.core.models import decoders, tiny
from workbench.core.models import Model
from workbench.core.models.decoding import check_length, decoding_names
from workbench.core.models.requests import requests_of
from workbench.features.base.registry import KINDS
from workbench.features.grid.axes import axes_of

POSITIONS = 20


def text_model() -> ModelProto:
    """A language model without a cache that has few positions."""
    proto = decoders.decoder(cached=False)
    table = np.zeros((POSITIONS, 2), np.float32)
    proto.graph.initializer.append(numpy_helper.from_array(table, "wpe"))
    return proto


def fixed() -> ModelProto:
    """A model without a free dim."""
    proto = tiny.mlp()
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 2
    return proto


MODELS: dict[str, Callable[[], ModelProto]] = {
    "batch": tiny.mlp,
    "pictures": tiny.conv_net,
    "text": text_model,
    "cache": decoders.decoder,
    "fixed": fixed,
}


def example(kind: str, argument: str, model: Model | None) -> str:
    field = next(field for field in KINDS.named(kind).form if field.argument == argument)
    return field.example_for(model) or field.text_for(model)


@pytest.mark.parametrize("name", MODELS)
def test_every_example_is_read(name: str) -> None:
    model = wb.load(MODELS[name]())
    for opened in (None, model):
        for offer in KINDS.offers:
            for field in KINDS.named(offer.name).form if offer.tabs == ("Explore",) else ():
                assert field.value(example(offer.name, field.argument, opened), opened)


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("batch", "batch=1, 8, 32"),
        ("pictures", "batch=1, 8, 32"),
        ("text", "batch=1, 8, 32"),
        ("fixed", "threads=1, 2, 4"),
    ],
)
def test_a_sweep_begins_with_an_axis_of_the_model(name: str, axis: str) -> None:
    model = wb.load(MODELS[name]())
    assert example("sweep", "sizes", model) == axis
    (field,) = KINDS.named("sweep").form
    assert axes_of(model, [wb.Config()], field.value(axis)).axes


def test_a_sweep_of_a_model_without_a_batch_has_its_axis_from_the_start() -> None:
    (field,) = KINDS.named("sweep").form
    proto = tiny.mlp()
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[0].ClearField("dim_param")
    assert field.text_for(wb.load(proto)) == "x.0=1, 2, 4"
    assert [field.text_for(model) for model in (None, wb.load(tiny.mlp()))] == ["", ""]


@pytest.mark.parametrize(
    ("name", "sizes", "buckets"),
    [
        ("batch", "1, 21, 32, 21", "1, 8, 32"),
        ("text", "5, 13, 20, 13", "5, 10, 20"),
    ],
)
def test_requests_have_sizes_of_the_free_dim(name: str, sizes: str, buckets: str) -> None:
    model = wb.load(MODELS[name]())
    assert example("replay", "shapes", model) == sizes
    assert example("replay", "buckets", model) == buckets
    assert len(requests_of(model, sizes)) == 4


@pytest.mark.parametrize("name", ["pictures", "cache"])
def test_requests_of_several_free_dims_come_from_a_file(name: str) -> None:
    assert example("replay", "shapes", wb.load(MODELS[name]())) == "sizes.csv"


def test_lengths_of_decoding_fit_the_positions() -> None:
    model = wb.load(text_model())
    prompt, tokens, lengths = (
        example("decoding", name, model) for name in ("prompt", "tokens", "prompt_lengths")
    )
    assert (prompt, tokens, lengths) == ("10", "10", "2, 10")
    check_length(decoding_names(model.structure), int(prompt), int(tokens))
    assert [example("decoding", name, None) for name in ("prompt", "tokens")] == ["128", "64"]
    assert example("decoding", "batch", wb.load(fixed())) == "1"


def test_other_models_are_of_the_same_family(tmp_path: Path) -> None:
    model = wb.load(tiny.save(tiny.conv_net(), tmp_path, "digits-conv.onnx"))
    assert example("matrix", "models", model) == "digits-conv-qat, digits-vit"
    assert "/path/to/other.onnx" in example("matrix", "models", None)


@pytest.mark.parametrize(("cores", "callers"), [(1, "1, 2"), (4, "1, 2, 4, 8"), (96, "1, 2, 4, 8, 16, 32")])
def test_callers_go_beyond_the_cores(cores: int, callers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.features.load.result.usable_cores", lambda: cores)
    assert example("load test", "callers", None) == callers


def test_versions_are_those_that_are_kept_else_the_newest_before_this_one(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.features.variants.versions.installed", lambda *_: "1.31.1")
    assert example("versions", "environments", None) == "1.29.1, or a path"
    monkeypatch.setattr("workbench.features.variants.versions.installed", lambda *_: "1.27.0")
    assert example("versions", "environments", None) == "1.24.1, or a path"
    for version in ("1.9.0", "1.20.1", "1.27.0"):
        (own_home / "cache" / "versions" / version).mkdir(parents=True)
    assert example("versions", "environments", None) == "1.9.0, 1.20.1, or a path"
