"""Every bad file is refused with its name, what is wrong and what to do."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from onnx import ModelProto, helper

from tests.core.models import tiny
from workbench.core.errors import ModelError
from workbench.core.models import load
from workbench.core.models.structure import MOST_GRAPH_NODES
from workbench.core.models.wire import varint

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
FILES = {
    "empty": (b"", "is empty"),
    "random": (bytes(range(7, 256)) * 4, "no ONNX model"),
    "zeros": (b"\0" * 100, "no ONNX model"),
    "page": (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
    "page without doctype": (b"<HTML><head></head></HTML>", "web page"),
    "xml": (b"<?xml version='1.0'?><net/>", "OpenVINO"),
    "pointer": (LFS, "Git LFS pointer"),
    "json": (b'{"error": "Repository not found"}', "JSON"),
    "text": (b"this is not a model\n" * 10, "text file"),
    "onnx text": (b'ir_version: 8\ngraph { name: "g" }', "text form"),
    "pickle": (pickle.dumps({"weight": [1.0]}, protocol=2), "pickle"),
    "tflite": (b"\x1c\0\0\0TFL3" + b"\0" * 90, "TensorFlow Lite"),
    "ort": (b"\x18\0\0\0ORTM" + b"\0" * 90, "ORT format"),
    "keras": (b"\x89HDF\r\n\x1a\n" + b"\0" * 90, "HDF5"),
    "gguf": (b"GGUF\x03\0\0\0" + b"\0" * 90, "GGUF"),
    "gzip": (b"\x1f\x8b\x08\0" + b"\0" * 90, "gzip"),
    "safetensors": (b"\x40\0\0\0\0\0\0\0" + b'{"w":{"dtype":"F32"}}', "safetensors"),
    "array": (b"\x93NUMPY\x01\0v\0{'descr'", "NumPy array"),
    "no graph": (helper.make_opsetid("", 17).SerializeToString(), "no graph"),
    "truncated": (tiny.conv_net().SerializeToString()[:-40], "bytes too early"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_model(case: str, tmp_path: Path) -> None:
    data, words = FILES[case]
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        load(path)
    assert words in caught.value.problem
    assert "model.onnx" in caught.value.problem
    assert caught.value.fix


@pytest.mark.parametrize(
    ("inside", "words"), [("archive/data.pkl", "PyTorch"), ("model.onnx", "zip archive")]
)
def test_an_archive(inside: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(inside, b"x")
    with pytest.raises(ModelError, match=words):
        load(path)


def test_a_folder_names_the_models_in_it(tmp_path: Path) -> None:
    tiny.save(tiny.mlp(), tmp_path, "inside.onnx")
    with pytest.raises(ModelError, match=r"is a folder[\s\S]*inside\.onnx"):
        load(tmp_path)


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    tiny.save(tiny.mlp(), tmp_path, "bert.onnx")
    with pytest.raises(ModelError, match=r"does not exist; near it there is 'bert\.onnx'"):
        load(tmp_path / "bort.onnx")


def test_a_bare_name_names_the_samples() -> None:
    with pytest.raises(ModelError, match="neither a file here nor a sample"):
        load("bert-bass")


@pytest.mark.parametrize(
    "source", ["", "a\0b.onnx", "x" * 5000, "s3://bucket/model.onnx", 7, None, ["m.onnx"]]
)
def test_nonsense_is_refused(source: object) -> None:
    with pytest.raises(ModelError):
        load(source)  # type: ignore[arg-type]


def test_a_device_is_not_read() -> None:
    with pytest.raises(ModelError, match="not a regular file"):
        load("/dev/zero")


def test_a_file_without_the_right_to_read_it() -> None:
    code = (
        "import os, sys\n"
        "from workbench.core.models.loading import load\n"
        "from workbench.core.errors import ModelError\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "try: load(sys.argv[1])\n"
        "except ModelError as error: print(error)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = tiny.save(tiny.mlp(), Path(folder))
        path.chmod(0)
        process = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        )
    assert "may not be read" in process.stdout
    assert path.name in process.stdout


def test_deep_nesting(tmp_path: Path) -> None:
    path = tmp_path / "deep.onnx"
    graph = b""
    for _ in range(60):  # a node (field 1), its attribute (5), the graph in it (6)
        for tag in (0x32, 0x2A, 0x0A):
            graph = bytes([tag]) + varint(len(graph)) + graph
    path.write_bytes(b"\x08\x0a\x3a" + varint(len(graph)) + graph)
    with pytest.raises(ModelError, match=r"deep\.onnx .*deeper than"):
        load(path)


def test_a_name_that_is_not_utf8() -> None:
    with pytest.raises(ModelError, match="not UTF-8"):
        load(tiny.mlp().SerializeToString().replace(b"dense1", b"den\xff\xfe1"))


@pytest.mark.parametrize(
    "name", ["<img src=x onerror=alert(1)>", 'it\'s "quoted"', "line\nbreak\ttab\r", "x" * 2**20, "é\u202e\0"]
)
def test_strange_names_are_kept_whole_and_shown_short(name: str) -> None:
    proto = tiny.mlp()
    proto.graph.name = name
    proto.graph.input[0].name = proto.graph.node[0].input[0] = name
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    model = load(proto)
    description = model.describe()
    assert description.graph_name == name
    assert description.inputs[0].name == name
    assert len(str(description)) < 3000
    assert "<img" not in description._repr_html_() + model._repr_html_() + model.inputs()._repr_html_()
    assert len(model.inputs().feeds[0][name]) == 1
    assert all(len(guess) < 500 for guess in model.inputs().guesses)


def test_a_graph_without_nodes_or_inputs_is_fine() -> None:
    proto = tiny.model([], [], [])
    model = load(proto)
    assert model.describe().nodes == 0
    assert model.inputs().feeds == ({},)


def test_cycles_and_unknown_values_do_not_loop() -> None:
    proto: ModelProto = tiny.embedding()
    proto.graph.node[0].input[0] = "i32"
    proto.graph.node[2].input[0] = "nowhere"
    assert load(proto).inputs().feeds[0]["input_ids"].shape == (1, 128)


def test_shapes_that_overflow() -> None:
    proto = tiny.mlp()
    for dim in (2**62, 2**62, 2**62):
        proto.graph.initializer[0].dims.append(dim)
    assert load(proto).describe().parameters > 2**180
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2**62
    with pytest.raises(Exception, match="above the bound"):
        load(proto).inputs()


def test_a_negative_dim_is_told() -> None:
    proto = tiny.mlp()
    proto.graph.initializer[0].dims[0] = -4
    assert any("negative dim" in problem for problem in load(proto).describe().problems)


def test_newer_versions_are_read_and_told() -> None:
    proto = tiny.mlp()
    proto.ir_version, proto.opset_import[0].version = 99, 77
    problems = load(proto).describe().problems
    assert "IR version is 99" in problems[0]
    assert "opset 77" in problems[1]


def test_a_folder_that_cannot_be_written(home: Path) -> None:
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "models").write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="cannot be written"):
        load(tiny.mlp())
    assert [entry.name for entry in (home / "cache").iterdir()] == ["models"]


def test_a_small_file_of_countless_nodes_is_refused_before_it_is_walked() -> None:
    graph = ModelProto.FromString(b"\x3a\x04\x12\x02gg").graph
    node = b"\x0a\x00"  # an empty one
    body = graph.SerializeToString() + node * (MOST_GRAPH_NODES + 1)
    model = b"\x08\x08\x3a" + varint(len(body)) + body
    with pytest.raises(ModelError, match="more than 300,000 nodes"):
        load(model)
