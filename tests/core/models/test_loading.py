"""Everything that stands for a model opens as the same model."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.core.models import tiny
from workbench.core.errors import InputError, ModelError
from workbench.core.models import load
from workbench.core.prepare.real_data import inputs_from

DATA = tiny.mlp().SerializeToString()
SHA = hashlib.sha256(DATA).hexdigest()


def test_a_path_in_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for source in (path, str(path), "tiny.onnx", Path("tiny.onnx"), "~/tiny.onnx"):
        model = load(source)
        assert model.sha256 == SHA
        assert model.path == path
        assert model.name == "tiny"


def test_a_name_that_begins_with_a_tilde_is_that_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "~no-such-user.onnx").write_bytes(DATA)
    monkeypatch.chdir(tmp_path)
    assert load("~no-such-user.onnx").sha256 == SHA
    with pytest.raises(ModelError, match=r"~no-such-user/tiny\.onnx does not exist"):
        load("~no-such-user/tiny.onnx")
    with pytest.raises(InputError, match="cannot be read"):
        inputs_from(load("~no-such-user.onnx"), "~no-such-user/x.npz")


def test_memory_in_every_form(home: Path) -> None:
    for source in (DATA, bytearray(DATA), memoryview(DATA), tiny.mlp()):
        model = load(source)
        assert model.sha256 == SHA
        assert model.path.read_bytes() == DATA
        assert model.path.is_relative_to(home)


def test_a_damaged_cache_is_written_again() -> None:
    path = load(DATA).path
    path.write_bytes(b"x")
    assert load(DATA).path.read_bytes() == DATA
    assert list(path.parent.iterdir()) == [path]


def test_a_model_is_itself() -> None:
    model = load(DATA)
    assert load(model) is model


def test_a_file_without_the_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny.save(tiny.mlp(), tmp_path, "model")
    assert load("model").sha256 == SHA


def test_a_sample_by_name() -> None:
    from workbench.core.models.samples import card, sample_names

    name = min(sample_names(), key=lambda source: card(source).bytes)
    model = load(name)
    assert model.name == name
    assert model.inputs().feeds


def test_the_record_names_the_model() -> None:
    record = load(DATA).record()
    assert (record.sha256, record.graph_bytes, record.external_bytes) == (SHA, len(DATA), 0)
