"""The user's own inputs are checked before a worker sees them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.core.models import tiny
from workbench.core.errors import InputError
from workbench.core.models import load, values

GOOD = np.zeros((2, 4), np.float32)


def test_a_dict_an_archive_and_an_iterable(tmp_path: Path) -> None:
    model = load(tiny.mlp())
    np.savez(tmp_path / "feeds.npz", x=GOOD)
    for source, made_by in (
        ({"x": GOOD}, "dict (given)"),
        (tmp_path / "feeds.npz", "feeds.npz (given)"),
        (str(tmp_path / "feeds.npz"), "feeds.npz (given)"),
        ([{"x": GOOD}, {"x": GOOD[:1]}], "iterable of 2 (given)"),
    ):
        inputs = model.inputs(source)
        assert inputs.made_by == made_by
        assert inputs.shapes == (("x", "float32[2,4]"),)
        assert inputs.seed is None
    assert model.inputs({"x": GOOD}).record().shapes == (("x", "float32[2,4]"),)
    assert GOOD.flags.writeable


def test_an_endless_iterator_is_bounded() -> None:
    def feeds() -> Iterator[dict[str, Any]]:
        for number in itertools.count():
            yield {"x": np.full((1, 4), number, np.float32)}

    assert len(load(tiny.mlp()).inputs(feeds()).feeds) == 64


@pytest.mark.parametrize(
    ("feed", "words"),
    [
        ({}, "No value is given for 'x'"),
        ({"X": GOOD}, "did you mean 'x'|no input 'X'"),
        ({"x": GOOD, "y": GOOD}, "no input 'y'"),
        ({"x": GOOD.astype(np.float64)}, r"float64, where float32[\s\S]*astype\('float32'\)"),
        ({"x": GOOD.astype(np.int32)}, "int32, where float32"),
        ({"x": np.zeros((4,), np.float32)}, "has 1 dims"),
        ({"x": np.zeros((2, 5), np.float32)}, "has 5 in axis 1, where 4 is fixed"),
        ({"x": [[1, 2, 3], [4]]}, "makes no array"),
        ({"x": "text"}, "cannot hold|makes no array"),
        ({"x": None}, "cannot hold|makes no array"),
        ({"x": [[1j, 0, 0, 0]]}, "cannot hold"),
        ({"x": np.array([object()] * 4).reshape(1, 4)}, "type object"),
    ],
)
def test_feeds_that_are_refused(feed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        load(tiny.mlp()).inputs(feed)


@pytest.mark.parametrize("source", [7, b"x", GOOD, [], [3], {"x"}])
def test_sources_that_are_none(source: Any) -> None:
    with pytest.raises(InputError):
        load(tiny.mlp()).inputs(source)


def test_dims_do_not_go_with_given_inputs() -> None:
    with pytest.raises(InputError, match="random inputs only"):
        load(tiny.mlp()).inputs({"x": GOOD}, batch=2)


def test_shared_dims_must_agree() -> None:
    feed = {"left": np.zeros((2, 3), np.float32), "right": np.zeros((4, 2), np.float32)}
    with pytest.raises(InputError, match="has 4 for the dim 'inner', but 'left' has 3"):
        load(tiny.shared_dims()).inputs(feed)


def test_python_numbers_take_the_declared_type() -> None:
    assert load(tiny.mlp()).inputs({"x": [[1, 2, 3, 4]]}).feeds[0]["x"].dtype == np.float32
    ids = load(tiny.embedding())
    assert ids.inputs({"input_ids": [[1, 2]]}).feeds[0]["input_ids"].dtype == np.int64
    with pytest.raises(InputError, match="cannot hold"):
        ids.inputs({"input_ids": [[1.5]]})


def test_strings_sequences_optionals_and_maps() -> None:
    feed = load(tiny.strings()).inputs({"first": ["a"], "second": np.array(["b"])}).feeds[0]
    assert [value.dtype for value in feed.values()] == [object, object]
    with pytest.raises(InputError, match="strings are declared"):
        load(tiny.strings()).inputs({"first": [1], "second": ["b"]})
    for wrong in ([["a"], ["b", "c"]], np.array(["é".encode()])):
        with pytest.raises(InputError, match=r"'first'.* makes no strings"):
            load(tiny.strings()).inputs({"first": wrong, "second": ["b"]})
    parts = [np.zeros((1, 2), np.float32), np.zeros((3, 2), np.float32)]
    assert (
        load(tiny.sequence()).inputs({"parts": parts}).shapes[0][1].startswith("sequence of 2: float32[1,2]")
    )
    with pytest.raises(InputError, match="Give a list"):
        load(tiny.sequence()).inputs({"parts": parts[0]})
    assert load(tiny.optional()).inputs({"maybe": None}).shapes == (("maybe", "absent"),)
    assert load(tiny.optional()).inputs({}).feeds[0]["maybe"] is None
    assert load(tiny.dictionary()).inputs({"features": {1: 0.5}}).shapes == (("features", "map of 1"),)
    with pytest.raises(InputError, match="keys of type int"):
        load(tiny.dictionary()).inputs({"features": {"a": 0.5}})


def test_bfloat16_survives_an_archive(tmp_path: Path) -> None:
    value = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)
    np.savez(tmp_path / "f.npz", x=value)
    inputs = load(tiny.bfloat16()).inputs(tmp_path / "f.npz")
    np.testing.assert_array_equal(inputs.feeds[0]["x"], value)
    assert inputs.guesses == ("x: raw bytes read as bfloat16",)


def test_archives_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(tiny.mlp())
    path = tmp_path / "f.npz"
    with pytest.raises(InputError, match=r"f\.npz cannot be read"):
        model.inputs(path)
    path.write_bytes(b"not a zip")
    with pytest.raises(InputError, match=r"f\.npz is no \.npz archive"):
        model.inputs(path)
    np.savez(path, x=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="nothing as Python objects"):
        model.inputs(path)
    np.savez_compressed(path, x=np.zeros((2, 4), np.float32))
    data = bytearray(path.read_bytes())
    data[60:90] = b"\xff" * 30
    path.write_bytes(data)
    with pytest.raises(InputError):
        model.inputs(path)
    np.savez(path, x=GOOD)
    monkeypatch.setattr("workbench.core.models.inputs.MAX_BYTES", 100)
    with pytest.raises(InputError, match=r"above the bound[\s\S]*smaller arrays"):
        model.inputs(path)
    assert values.MAX_BYTES > 100


def test_a_default_may_be_overridden() -> None:
    proto = tiny.mlp()
    proto.graph.input.append(tiny.tensor("b1", [8]))
    feed = load(proto).inputs({"x": GOOD, "b1": np.ones(8, np.float32)}).feeds[0]
    assert list(feed) == ["x", "b1"]
