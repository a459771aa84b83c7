"""A stream of sizes through a session: its table, its verdicts by hand, its buckets and its refusals."""

from __future__ import annotations

import json
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.core.models import tiny
from workbench.apps.cli import main
from workbench.core.form import values_of
from workbench.core.measure.limits import Progress
from workbench.core.models import requests
from workbench.core.models.requests import fed, padded, requests_of
from workbench.features.base.registry import KINDS
from workbench.features.replay.record import ReplayRun, SizeSeen

KIB = 1024


def dynamic() -> bytes:
    """Return a product and an activation over any batch and any number of tokens."""
    weights = numpy_helper.from_array(np.ones((8, 8), np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Tanh", ["p"], ["y"])]
    tensors = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "tokens", 8]) for name in ("x", "y")
    ]
    graph = helper.make_graph(nodes, "dynamic", tensors[:1], tensors[1:], [weights])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "dynamic.onnx"
    path.write_bytes(dynamic())
    return path


def seen(*kib: float) -> ReplayRun:
    """Return a stream whose first size covers all others, with the memory after each."""
    sizes = tuple(
        SizeSeen(f"tokens={99 - place}", 1, 0.002, 0.001, round(size * KIB), place > 0)
        for place, size in enumerate(kib)
    )
    return ReplayRun("as they come", sizes, 0, (0.2, 0.1), (0, 0))


GROWING = [100_000 + 20.0 * place + place % 2 for place in range(30)]


@pytest.mark.parametrize(
    ("kib", "verdict", "words"),
    [
        (GROWING, "grows", "grows by 20"),
        ([100_000.0 + place % 3 for place in range(30)], "bounded", "bounded: "),
        ([100_000.0, *GROWING[:12], *[100_300.0] * 17], "bounded", "bounded: 0 KiB"),  # it filled, then stood
        ([100_000.0, *[100_000.0] * 25, 120_000, 90_000, 130_000], "not settled", "not settled: "),
        (GROWING[:9], "not settled", "12 new sizes that an earlier one covers tell, here are 8"),
    ],
)
def test_memory_grows_where_the_slope_with_its_interval_does(
    kib: list[float], verdict: str, words: str
) -> None:
    growth = seen(*kib).growth
    assert growth.verdict == verdict
    assert words in str(growth)


def test_memory_that_the_system_does_not_tell_settles_nothing() -> None:
    sizes = tuple(SizeSeen(f"x={place}", 1, 0.1, 0.1, None, True) for place in range(40))
    assert ReplayRun("as they come", sizes, None, (1, 1), (None, None)).growth.verdict == "not settled"


def test_sizes_are_rounded_up_to_powers_of_two_or_to_buckets() -> None:
    shape = (("batch", 3), ("tokens", 37))
    assert padded(shape, None) == (("batch", 4), ("tokens", 64))
    assert padded(shape, [2, 40]) == (("batch", 40), ("tokens", 40))
    assert padded(shape, {"tokens": [16, 48]}) == (("batch", 3), ("tokens", 48))
    assert padded(shape, [2, 8]) == (("batch", 8), ("tokens", 37))


@pytest.mark.real
def test_a_stream_of_sizes_is_replayed(model: Path) -> None:
    result = wb.replay(model, [64, 5, 9, 5, 33], passes=2, keep=False)
    record = result.record
    assert (
        result.chart()
        .sentences[0]
        .startswith("dynamic: 5 requests; as they come: 4 sizes; memory growth not settled: ")
    )
    plain, buckets = record.runs
    assert [(size.shape, size.requests, size.is_covered) for size in plain.sizes] == [
        ("tokens=64", 1, False), ("tokens=5", 2, True), ("tokens=9", 1, True), ("tokens=33", 1, True),
    ]  # fmt: skip
    assert all(size.first_s > 0 and size.steady_s > 0 for size in plain.sizes)
    assert [size.shape for size in buckets.sizes] == ["tokens=64", "tokens=8", "tokens=16"]
    assert record.padding_share == pytest.approx((64 + 8 + 16 + 8 + 64) / (64 + 5 + 9 + 5 + 33) - 1)
    assert len(plain.pass_s) == len(buckets.pass_s) == 2
    assert record.bucket_shares is not None
    assert record.to_frame()["run"].tolist() == ["as they come"] * 4 + ["buckets"] * 3


@pytest.mark.real
def test_inputs_of_your_own_are_requests_beside_sizes_and_progress_is_told(model: Path) -> None:
    own = [{"x": np.full((1, tokens, 8), 0.5, np.float32)} for tokens in (7, 3, 7)]
    told: list[Progress] = []
    stream = [*own, {"batch": 1, "tokens": 5}]
    record = wb.replay(model, stream, passes=2, progress=told.append, keep=False).record
    sizes = [(size.shape, size.requests) for size in record.runs[0].sizes]
    assert sizes == [("batch=1, tokens=7", 2), ("batch=1, tokens=3", 1), ("batch=1, tokens=5", 1)]
    assert [size.shape for size in record.runs[1].sizes] == ["batch=1, tokens=8", "batch=1, tokens=4"]
    assert record.runs[1].failure is None
    assert [now.fraction for now in told] == [(place + 1) / 16 for place in range(16)]
    assert told[0].doing == "pass 1 of 2, as they come"
    assert told[-1].doing == "pass 2 of 2, buckets"


@pytest.mark.real
def test_a_replay_is_stopped_between_requests(model: Path) -> None:
    stop = threading.Event()
    with pytest.raises(wb.Cancelled):
        wb.replay(model, [4, 5], cancel=stop, progress=lambda _: stop.set(), keep=False)


def test_a_stream_that_holds_too_much_is_refused_before_all_of_it_is_made(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST_FEED_BYTES", 1000)
    with pytest.raises(wb.InputError, match="the stream holds more than 1 kB of inputs"):
        wb.replay(model, [40, 900_000_000], buckets=[], keep=False)


def test_inputs_of_another_type_are_refused(model: Path) -> None:
    with pytest.raises(wb.InputError, match="float"):
        wb.replay(model, [{"x": np.ones((1, 3, 8), np.int64)}], keep=False)


def test_inputs_are_padded_with_zeros(model: Path) -> None:
    loaded = wb.load(model)
    (request,) = requests_of(loaded, [{"x": np.ones((1, 3, 8), np.float32)}])
    feed = fed(loaded, request.of_size((("batch", 2), ("tokens", 4))), 0)["x"]
    assert feed.shape == (2, 4, 8)
    assert feed.sum() == 3 * 8
    assert (feed[:1, :3] == 1).all()
    texts = wb.load(tiny.strings())
    (request,) = requests_of(texts, [{"first": ["a"], "second": ["b"]}])
    assert fed(texts, request.of_size((("n", 3),)), 0)["first"].tolist() == ["a", "", ""]


def test_a_sequence_of_your_own_is_a_request() -> None:
    parts = [np.zeros((1, 2), np.float32), np.zeros((3, 2), np.float32)]
    sequence = wb.load(tiny.sequence())
    (request,) = requests_of(sequence, [{"parts": parts}])
    assert request.shape == ()
    assert [part.shape for part in fed(sequence, request, 0)["parts"]] == [(1, 2), (3, 2)]


def test_a_file_among_arrays_is_refused(model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "own.npz", x=np.ones((1, 3, 8), np.float32))
    with zipfile.ZipFile(tmp_path / "own.npz", "a") as archive:
        archive.writestr("README.txt", "of whom these are")
    with pytest.raises(wb.InputError, match=r"'README\.txt', which is no array"):
        requests_of(wb.load(model), tmp_path / "own.npz")


def test_settings_of_memory_are_asked_for_in_the_form() -> None:
    feature = KINDS.named("replay")
    options = values_of(feature.form, {"shapes": "8, 3", "arenas": "yes"})
    assert feature.call_code(["config"], options) == (
        'wb.replay(model, "8, 3", config, arenas=True, passes=4)'
    )
    assert feature.making_code(["config"], '"B"', values_of(feature.form, {"shapes": "8"})) == (
        'result.add(wb.replay(model, "8", config, passes=4), "B")'
    )


@pytest.mark.real
def test_settings_of_memory_are_variants(model: Path) -> None:
    record = wb.replay(model, [8, 3], buckets=[], arenas=True, passes=2, keep=False).record
    names = ["as they come", "no memory pattern", "no arena", "arena by what is asked", "arena shrinks"]
    assert [run.name for run in record.runs] == names
    assert [run.failure for run in record.runs] == [None] * 5
    assert record.padding_share is None


@pytest.mark.real
def test_a_file_of_sizes_by_command(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.csv").write_text("tokens,batch\n4,1\n6,2\n4,1\n")
    command = ["replay", str(model), "--shapes", str(tmp_path / "log.csv"), "--buckets", "8", "--passes", "2"]
    assert main([*command, "--json", "--no-history"]) == 0
    assert json.loads(capsys.readouterr().out)["text"].startswith("dynamic: 3 requests")
    assert main(["replay", str(model)]) == 2
    assert "--shapes" in capsys.readouterr().err


@pytest.mark.real
def test_inputs_of_your_own_by_command(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "requests"
    folder.mkdir()
    for name, tokens in (("10", 9), ("9", 3), ("8", 6)):
        np.savez(folder / f"{name}.npz", x=np.full((1, tokens, 8), 0.5, np.float32))
    loaded = wb.load(model)
    assert [request.shape[1] for request in requests_of(loaded, folder)] == [
        ("tokens", 6), ("tokens", 3), ("tokens", 9),
    ]  # fmt: skip
    options = ["--passes", "2", "--json", "--no-history"]
    for given, words in ((folder, "dynamic: 3 requests"), (folder / "9.npz", "dynamic: 1 request")):
        assert main(["replay", str(model), "--shapes", str(given), *options]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["text"].startswith(words)


def test_a_folder_without_inputs_is_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(wb.InputError, match=r"holds no \.npz file"):
        wb.replay(model, tmp_path / "empty", keep=False)
    np.savez(tmp_path / "other.npz", other=np.zeros(3, np.float32))
    with pytest.raises(wb.WorkbenchError, match="other"):
        wb.replay(model, tmp_path / "other.npz", keep=False)


@pytest.mark.real
def test_a_bucket_that_does_not_run_fails_alone_and_a_request_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "narrow.onnx"
    table = numpy_helper.from_array(np.ones((1, 48, 8), np.float32), "w")
    tensors = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "tokens", 8]) for name in ("x", "y")
    ]
    start, axis = (numpy_helper.from_array(np.array([value]), name) for value, name in ((0, "s"), (1, "a")))
    nodes = [
        helper.make_node("Shape", ["x"], ["n"], start=1, end=2),
        helper.make_node("Slice", ["w", "s", "n", "a"], ["p"]),
        helper.make_node("Add", ["x", "p"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "narrow", tensors[:1], tensors[1:], [table, start, axis])
    path.write_bytes(
        helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
        ).SerializeToString()
    )
    record = wb.replay(path, [40, 3], passes=2, keep=False).record
    assert record.runs[0].failure is None
    assert "tokens=64" in str(record.runs[1].failure)
    assert record.bucket_shares is None
    with pytest.raises(wb.RunFailed, match="tokens=50"):
        wb.replay(path, [40, 50], passes=2, keep=False)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ([], "0 requests"),
        ([3, -1], "-1"),
        ([3, "many"], "many"),
        ([{}], "no size"),
        ([{"length": 3}], "length"),
        ("nowhere.csv", "nowhere.csv cannot be read"),
    ],
)
def test_what_is_no_size_is_refused(model: Path, shapes: object, words: str) -> None:
    with pytest.raises(wb.WorkbenchError, match=words):
        wb.replay(model, shapes, keep=False)


@pytest.mark.parametrize(
    "text", ["tokens\nfive\n", "tokens,batch\n1\n", "tokens\n\x00\n", "", "tokens\n", "tokens\n-2\n"]
)
def test_a_damaged_file_is_refused_by_its_name(model: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(wb.InputError, match=r"log\.csv is no list of sizes: (.* is no size|it has no row)"):
        wb.replay(model, tmp_path / "log.csv", keep=False)


def test_one_pass_shows_nothing_steady(model: Path) -> None:
    with pytest.raises(wb.ConfigError, match="passes"):
        wb.replay(model, [3], passes=1, keep=False)
