"""Calibration data from everything that can hold them, each told apart by the hash of its content."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from PIL import Image

import workbench as wb
from sample_models.evaluation import read_calibration_set, read_evaluation_set
from workbench.core.prepare.calibration import DEFAULT_SAMPLES, RANDOM_SAMPLES, few_examples, spool
from workbench.core.prepare.pictures import read_folder
from workbench.core.prepare.replayed import Replayed, replayed
from workbench.core.worker.values import read_values

PIXELS = {"pixels": np.ones((1, 1, 64, 64), np.float32)}


def spooled(data: Any, folder: Path, model: Any = "digits-conv", samples: int | None = None) -> Any:
    made = spool(wb.load(model), data, samples, folder / "examples")
    feeds = [feed for path in sorted(made.folder.iterdir()) for feed in read_values(path)]
    assert len(feeds) == made.record.count
    return feeds, made.record


@pytest.mark.parametrize("name", ["digits-conv", "char-gpt"])
def test_a_trained_sample_has_its_own_and_never_what_it_is_scored_on(name: str, tmp_path: Path) -> None:
    feeds, record = spooled(None, tmp_path, name)
    assert record.representative
    assert 100 <= record.count <= DEFAULT_SAMPLES
    assert name in record.source
    key = next(iter(feeds[0]))
    scored = {row.tobytes() for row in read_evaluation_set(name).feeds[key]}
    assert not scored & {feed[key][0].tobytes() for feed in feeds}


def test_other_models_get_random_data_that_say_so(tmp_path: Path) -> None:
    _, record = spooled("random", tmp_path)
    assert not record.representative
    assert record.count == RANDOM_SAMPLES
    assert f"random, seeds 0 to {RANDOM_SAMPLES - 1}" in record.made_by
    (tmp_path / "more").mkdir()
    _, more = spooled("random", tmp_path / "more", samples=RANDOM_SAMPLES + 1)
    assert more.count == RANDOM_SAMPLES + 1
    assert more.made_by == f"random, seeds 0 to {RANDOM_SAMPLES}"


@pytest.mark.parametrize(
    ("asked", "words"),
    [(None, "calibrated on 3 examples"), (5, "5 calibration examples were asked"), (3, None)],
)
def test_few_examples_are_told_where_nobody_asked_for_few(
    asked: int | None, words: str, tmp_path: Path
) -> None:
    _, record = spooled([PIXELS] * 3, tmp_path, samples=asked)
    note = few_examples(record, asked)
    assert note is None if words is None else words in (note or "")


def test_an_iterator_serves_every_config_and_is_read_no_further_than_needed() -> None:
    left = iter(range(10))
    kept = replayed(left)
    assert [list(islice(kept, 3)) for _ in range(2)] == [[0, 1, 2]] * 2
    assert next(left) == 3
    assert replayed(kept) is kept
    assert replayed([1]) == [1]
    labelled = replayed((iter([1, 2]), [3, 4]))
    assert [[*map(list, labelled)] for _ in range(2)] == [[[1, 2], [3, 4]]] * 2


def test_reading_examples_can_be_cancelled(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(wb.Cancelled):
        spool(wb.load("digits-conv"), [PIXELS], None, tmp_path / "examples", cancel)


def test_arrays_feeds_and_files_of_the_same_data_are_the_same(tmp_path: Path) -> None:
    arrays = {name: array[:5] for name, array in read_calibration_set("digits-conv").feeds.items()}
    np.savez(tmp_path / "data.npz", labels=np.arange(5), **arrays)
    folder = tmp_path / "arrays"
    folder.mkdir()
    for at in range(5):
        np.save(folder / f"{at}.npy", arrays["pixels"][at])
    rows = [{"pixels": arrays["pixels"][at].tolist()} for at in range(5)]
    ways: list[Any] = [
        arrays,
        (arrays, np.arange(5)),
        str(tmp_path / "data.npz"),
        folder,
        ({"pixels": arrays["pixels"][at : at + 1]} for at in range(5)),
        Table(rows),
        Streamed(rows),
        Replayed(iter([{"pixels": arrays["pixels"][at : at + 1]} for at in range(5)])),
    ]
    hashes = set()
    for at, data in enumerate(ways):
        (tmp_path / str(at)).mkdir()
        _, record = spooled(data, tmp_path / str(at))
        assert record.count == 5
        assert record.representative
        hashes.add(record.sha256)
    assert len(hashes) == 1


class Table:
    """What a Hugging Face dataset looks like from outside."""

    builder_name = "digits"

    def __init__(self, rows: list[dict[str, Any]], names: Any = None) -> None:
        self.rows = rows
        self.column_names = names or list(rows[0])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> dict[str, Any]:
        return self.rows[at]


class Streamed:
    """One that is read from afar: no length, no rows by number, perhaps no names."""

    column_names = None

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


def test_images_become_what_the_model_takes(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (90, 60), (255, 0, 0)).save(folder / "red.png")
    Image.new("RGB", (64, 64), (0, 0, 0)).save(folder / "black.png")
    pictures = wb.Pictures(folder, mean=(0.5,), std=(0.25,), size=(64, 64))
    feeds, record = spooled(pictures, tmp_path)
    assert [feed["pixels"].shape for feed in feeds] == [(1, 1, 64, 64)] * 2
    assert np.allclose(feeds[0]["pixels"], -2.0)  # black: (0 - 0.5) / 0.25
    assert np.allclose(feeds[1]["pixels"], (76 / 255 - 0.5) / 0.25, atol=1e-5)
    assert "mean 0.5, std 0.25" in record.made_by
    image = Image.new("RGB", (64, 64), (0, 0, 0))
    (tmp_path / "two").mkdir()
    _, other = spooled(Table([{"image": image, "label": 3}]), tmp_path / "two")
    assert other.count == 1


@pytest.mark.parametrize(
    ("element", "pixel", "words"),
    [
        (onnx.TensorProto.UINT8, 255, "values of 0 to 255"),
        (onnx.TensorProto.FLOAT, 2, "mean 0.5"),
        (onnx.TensorProto.BFLOAT16, 2, "mean 0.5"),
    ],
)
def test_pictures_are_scaled_for_floats_alone_and_the_record_says_so(
    element: int, pixel: int, words: str, tmp_path: Path
) -> None:
    ends = [onnx.helper.make_tensor_value_info(name, element, [1, 3, 8, 8]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", "x", "y")], "g", ends[:1], ends[1:])
    model = wb.load(onnx.helper.make_model(graph, ir_version=8))
    Image.new("RGB", (8, 8), (255, 255, 255)).save(tmp_path / "white.png")
    _, made_by, feeds = read_folder(wb.Pictures(tmp_path, mean=(0.5,) * 3, std=(0.25,) * 3), model)
    assert (next(feeds)["x"].astype(np.float32) == pixel).all()
    assert words in made_by


def test_weights_listed_as_inputs_are_no_inputs_to_feed(tmp_path: Path) -> None:
    old = onnx.load(wb.load("digits-conv").path)
    old.graph.input.extend(
        onnx.helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims)
        for weight in old.graph.initializer
    )
    path = tmp_path / "old.onnx"
    onnx.save(old, path)
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (64, 64)).save(tmp_path / "photos" / "black.png")
    np.save(tmp_path / "photos" / "ones.npy", PIXELS["pixels"][0])
    images = wb.Pictures(tmp_path / "photos", mean=(0.5,), std=(0.25,))
    for number, data in enumerate((images, Table([{"pixels": PIXELS["pixels"][0]}]))):
        folder = tmp_path / str(number)
        folder.mkdir()
        feeds, _ = spooled(data, folder, path)
        assert all(feed["pixels"].shape == (1, 1, 64, 64) for feed in feeds)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "there are no examples"),
        (3, "holds no examples"),
        ([{"pixel": np.zeros((1, 1, 64, 64), np.float32)}], "no input 'pixel'"),
        (Table([{"text": "a"}]), "columns are"),
        (Table([{"pixels": [[1, 2], [3]]}]), "row 0, column pixels"),
        (Table([], ["pixels"]), "has no rows"),
        (Table([], {"train": ["pixels"]}), "splits 'train'"),
        ({"pixels": np.zeros((0, 1, 64, 64), np.float32)}, r"dict \(given\): .* there are 0"),
        ("mnist", "no file or folder"),
        ([PIXELS, {"pixels": PIXELS["pixels"] * np.nan}], "example 1: .*4,096 values that are NaN"),
        ([PIXELS, {"pixels": PIXELS["pixels"] + np.inf}], "example 1: .*values that are Inf"),
        ([PIXELS, {"pixels": PIXELS["pixels"][:, :, 1:]}], "example 1: .*63 in axis 2"),
        ((PIXELS if at < 2 else {}[at] for at in range(3)), "example 2 could not be read: KeyError: 2"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(data: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(wb.InputError, match=words):
        spooled(data, tmp_path)


def test_a_file_that_is_no_image_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "not.png").write_text("text")
    with pytest.raises(wb.InputError, match=r"not\.png"):
        spooled(folder, tmp_path)
    (folder / "not.png").unlink()
    for name, values in {
        "shape.npy": np.zeros((1, 3), np.float32),
        "nan.npy": PIXELS["pixels"] * np.nan,
    }.items():
        np.save(folder / name, values)
        (tmp_path / "examples").rmdir()
        with pytest.raises(wb.InputError, match=name):
            spooled(folder, tmp_path)
        (folder / name).unlink()
    with pytest.raises(wb.InputError, match="is no share"):
        wb.Pictures(folder, crop=2.0)
