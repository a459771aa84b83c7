"""What the workbench offers of the samples: names, cards, table, paths, and errors that help."""

from dataclasses import replace

import pytest

from workbench.core.errors import ModelError
from workbench.core.models.samples import (
    card,
    evaluation_set,
    sample_dims,
    sample_names,
    sample_path,
    samples,
)

ARTICLE = ("bert-base", "resnet50", "gpt2", "yolov5s", "efficientnet-b0", "vit-base")


def test_the_articles_models_are_there():
    assert set(ARTICLE) <= set(sample_names())
    assert {f"{name}-dynamo" for name in ("bert-base", "gpt2", "resnet50", "efficientnet-b0")} <= set(
        sample_names()
    )


def test_one_row_a_sample():
    table = samples()
    assert list(table.columns) == ["name", "family", "kind", "parameters", "bytes", "teaches"]
    assert tuple(table["name"]) == sample_names()
    assert set(table["kind"]) == {"skeleton", "trained"}
    assert (table["parameters"] > 10_000).all()


@pytest.mark.parametrize("name", sample_names())
def test_every_card_is_complete(name):
    fields = card(name)
    assert fields.name == name
    for text in (
        fields.what,
        fields.teaches,
        fields.origin,
        fields.licence,
        fields.remake,
        fields.real,
        fields.exporter,
    ):
        assert len(text) > 10
    assert all(port.meaning for port in (*fields.inputs, *fields.outputs))
    assert (fields.score is None) == (fields.kind == "skeleton")
    assert name in fields._repr_html_()


def test_a_card_is_escaped():
    html = replace(card("gpt2"), teaches="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_skeleton_is_made_in_the_cache_once(own_home):
    path = sample_path("mobilenetv2")
    assert path.is_relative_to(own_home / "cache" / "samples")
    assert sample_path("mobilenetv2", progress=lambda *_bytes: pytest.fail("made again")) == path
    assert sum(file.stat().st_size for file in path.parent.glob("*.onnx*")) == card("mobilenetv2").bytes


def test_a_trained_model_is_unpacked_into_the_cache_once(own_home):
    path = sample_path("digits-conv")
    assert path.is_relative_to(own_home / "cache" / "samples")
    state = path.stat()
    assert sample_path("digits-conv") == path
    assert path.stat() == state
    path.write_bytes(b"damaged")
    assert sample_path("digits-conv").stat().st_size == card("digits-conv").bytes


def test_the_promised_sizes():
    assert sample_dims("bert-base") == {"batch": 1, "sequence": 128}
    assert sample_dims("gpt2") == {"batch": 1, "sequence": 256}
    sizes = sample_dims("llama-small")
    assert sizes["past"] + sizes["sequence"] == sizes["total"]


def test_a_wrong_name_gets_the_nearest():
    with pytest.raises(ModelError, match="bert-bse") as caught:
        sample_path("bert-bse")
    assert "Did you mean 'bert-base'?" in caught.value.fix
    assert "yolov5s" in caught.value.fix


def test_a_skeleton_has_no_evaluation_set():
    with pytest.raises(ModelError, match="random") as caught:
        evaluation_set("resnet50")
    assert "digits-conv" in caught.value.fix


def test_no_room_is_said(own_home):
    (own_home / "cache").mkdir(parents=True)
    (own_home / "cache" / "samples").write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="could not be made") as caught:
        sample_path("mobilenetv2")
    assert "WORKBENCH_HOME" in caught.value.fix
