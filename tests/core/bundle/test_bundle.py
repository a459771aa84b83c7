"""What is saved comes back equal, anywhere, and says nothing about whoever saved it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from tests.amount import amount
from tests.core.bundle.strategies import comparisons
from tests.factories.records import CONFIGS, bulky, comparison, failed_run, names, run, write_bundle
from workbench.core.bundle.bundle import pack_record, read_bundle, unpack_record
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import Failure, LogLine
from workbench.core.config import Config, Provider
from workbench.core.errors import BundleError

REPOSITORY = Path(__file__).parents[3]
FOREIGN = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"onnxruntime", "onnx", "onnx_ir"}:
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, Refuse())
from workbench.core.bundle.bundle import read_bundle
bundle = read_bundle(sys.argv[1])
assert not {"numpy", "pandas", "plotly"} & set(sys.modules), "opening a bundle needs none of these"
print(bundle.record.verdict.kind, len(bundle.structure), bundle.record.runs[1].latency.median_s)
print(bundle.record.to_frame().label.tolist())
"""


@given(comparisons())
@settings(max_examples=amount(40))
def test_any_record_survives(record: ComparisonRecord) -> None:
    assert unpack_record(pack_record(record, None, private=True)).record == record


def test_saved_and_reopened(tmp_path: Path) -> None:
    record = bulky("x", 1)
    path = write_bundle(record, tmp_path / "a.ortbench", structure=b"graph")
    bundle = read_bundle(str(path))
    assert bundle.record == record
    assert (bundle.structure, bundle.kind, bundle.version) == (b"graph", "comparison", 2)
    assert read_bundle(write_bundle(record, path)).structure is None


def test_the_same_record_gives_the_same_bytes() -> None:
    assert pack_record(comparison(), b"g", private=False) == pack_record(comparison(), b"g", private=False)


def test_a_failed_run_is_a_record_too(tmp_path: Path) -> None:
    record = comparison(candidate=failed_run())
    assert read_bundle(write_bundle(record, tmp_path / "a")).record == record


def test_opens_where_onnxruntime_is_not_installed(tmp_path: Path) -> None:
    path = write_bundle(comparison(), tmp_path / "a.ortbench", structure=b"12345")
    command = [sys.executable, "-c", FOREIGN, str(path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "faster 5 0.001\n['A', 'B']\n"


def test_anyone_can_read_it_with_a_zip_a_json_and_an_npy_reader(tmp_path: Path) -> None:
    record = comparison()
    with zipfile.ZipFile(write_bundle(record, tmp_path / "a")) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        data = json.loads(archive.read("record.json"))
        with archive.open("nanoseconds.npy") as file:
            column = np.load(file, allow_pickle=False) / 1e9
    assert names[:2] == ["manifest.json", "record.json"]
    last = data["runs"][-1]["processes"][-1]["blocks"][-1]["samples_s"]
    assert tuple(column[-last:]) == record.runs[-1].processes[-1].blocks[-1].samples_s


def test_no_absolute_path_leaves_the_machine(tmp_path: Path) -> None:
    deep = tmp_path / "my models"
    deep.mkdir()
    cache = Config(providers=(Provider("tensorrt", {"trt_engine_cache_path": str(tmp_path / "engines")}),))
    failure = Failure(
        "load", f"{deep}/secret net.onnx cannot be read", f"Look into {Path.home()}/x", sys.prefix
    )
    lines = (LogLine("E", f"Load model from {deep}/net.onnx failed"), LogLine("W", "in /bert/layer.0/MatMul"))
    record = comparison(candidate=replace(run("B", cache), log=lines, failure=failure))
    opened = read_bundle(write_bundle(record, deep / "a.ortbench")).record
    with zipfile.ZipFile(deep / "a.ortbench") as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist()).decode("latin-1")
    for folder in (tmp_path, Path.home(), Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix)):
        assert f"{folder}/" not in everything
    assert opened.runs[1].log[1].message == "in /bert/layer.0/MatMul"
    assert opened.runs[1].log[0].message.endswith("/net.onnx failed")
    assert dict(opened.runs[1].config.providers[0].options)["trt_engine_cache_path"].endswith("engines")


def test_a_failure_without_words_is_still_told(tmp_path: Path) -> None:
    record = comparison(candidate=replace(run("B"), failure=Failure("load", "", "", "")))
    failure = read_bundle(write_bundle(record, tmp_path / "a")).record.runs[1].failure
    assert failure.of("B") == "B could not be measured: load: "


def test_names_of_any_kind_survive(tmp_path: Path) -> None:
    name = "<script>alert('x')</script>\n\"\0\u202e " + "ß" * (1 << 20)
    record = replace(comparison(), model=replace(comparison().model, name=name))
    assert read_bundle(write_bundle(record, tmp_path / "a")).record.model.name == name


def test_half_a_letter_becomes_a_question_mark(tmp_path: Path) -> None:
    record = replace(comparison(), model=replace(comparison().model, name="bad\udcff"))
    assert read_bundle(write_bundle(record, tmp_path / "a")).record.model.name == "bad?"


@pytest.mark.parametrize("config", CONFIGS)
def test_configs_come_back_equal(config: Config, tmp_path: Path) -> None:
    record = comparison(candidate=run("B", config))
    assert read_bundle(write_bundle(record, tmp_path / "a")).record.runs[1].config == config


def test_only_records_are_saved(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot hold a str"):
        write_bundle("text", tmp_path / "a")
    assert not names(tmp_path)


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (replace(comparison(), runs=(run(),)), "two or more runs"),
        (replace(comparison(), runs=(run(), run())), "each with its own label"),
        (comparison(candidate=run("b = exit()\nb")), "is no label such as A or B"),
        (replace(comparison(), verdicts=()), "one for each run after the first"),
        (replace(comparison(), id="../x\n"), "printable ASCII"),
        (replace(comparison(), created_utc="yesterday"), "created_utc: expected a time"),
        (comparison(candidate=replace(run("B"), threads=True)), r"runs\[1\].threads: expected `int"),
        (
            replace(comparison(), protocol=replace(comparison().protocol, elapsed_s=-1.0)),
            "protocol.elapsed_s: expected `float` >= 0",
        ),
    ],
)
def test_an_impossible_record_is_refused_before_a_file_is_made(
    broken: ComparisonRecord, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(BundleError, match=problem) as caught:
        write_bundle(broken, tmp_path / "a")
    assert "report it" in caught.value.fix
    assert not names(tmp_path)


@pytest.mark.parametrize("value", [-0.001, float("nan"), float("inf")])
def test_a_sample_that_is_no_duration_is_refused(value: float, tmp_path: Path) -> None:
    process = run("B").processes[0]
    block = replace(process.blocks[0], samples_s=(0.1, value))
    record = comparison(candidate=replace(run("B"), processes=(replace(process, blocks=(block,)),)))
    place = r"runs\[1\].processes\[0\].blocks\[0\].samples_s"
    with pytest.raises(BundleError, match=f"{place}: expected durations of zero or more seconds, .* at 1"):
        write_bundle(record, tmp_path / "a")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, problem in (
        (tmp_path, "not a file"),
        (pipe, "not a file"),
        (Path("/dev/zero"), "not a file"),
        (tmp_path / "no", "No such file"),
        (tmp_path / "no" / "no", "No such file"),
        (Path("a\0"), "a path holds no null byte"),
    ):
        with pytest.raises(BundleError, match=problem):
            read_bundle(path)
