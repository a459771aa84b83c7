"""Through the front door: whatever is wrong, the error says which model, what, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import workbench as wb
from tests.core.models import tiny

pytestmark = pytest.mark.real

STRANGE = {
    "HTML": "<img src=x onerror=alert(1)>",
    "quotes": 'it\'s "quoted" `so` \\ {0} %s',
    "newlines": "first\nsecond\r\n\tthird\x1b[31m",
    "a megabyte": "long" * 2**18,
    "other scripts": "模型 \u202e\u0000 🙂",
}


def compared(model: Any, **arguments: Any) -> wb.Comparison:
    """Two configs of it, as briefly as possible."""
    arguments = {"budget_s": 0.1, "progress": False, "keep": False} | arguments
    return wb.compare(model, wb.Config(), wb.Config(intra_op_threads=1), **arguments)


def refused(model: Any, kind: type[wb.WorkbenchError] = wb.ModelError, **arguments: Any) -> wb.WorkbenchError:
    with pytest.raises(kind) as caught:
        compared(model, **arguments)
    assert caught.value.problem
    assert caught.value.fix
    assert len(str(caught.value)) < 6_000
    return caught.value


@dataclass(frozen=True)
class Case:
    """A file that is no model, words of the problem and of the fix."""

    data: bytes
    problem: str
    fix: str


FILES = {
    "random bytes": Case(np.random.default_rng(1).bytes(4096), "no ONNX model", "again"),
    "truncated": Case(tiny.conv_net().SerializeToString()[:-100], "too early", "again"),
    "empty": Case(b"", "is empty", "again"),
    "HTML": Case(b"<!DOCTYPE html><html><body>404</body></html>", "web page", "download"),
    "LFS pointer": Case(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "LFS pointer", "git lfs"
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_model(case: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(FILES[case].data)
    error = refused(path)
    assert "broken.onnx" in error.problem
    assert FILES[case].problem in error.problem
    assert FILES[case].fix.lower() in error.fix.lower()


def unknown_op() -> ModelProto:
    proto = tiny.mlp()
    proto.graph.node[2].op_type = "Releux"
    return proto


def cycle() -> ModelProto:
    proto = tiny.mlp()
    proto.graph.node[0].input[0] = "r"
    return proto


def undefined_input() -> ModelProto:
    proto = tiny.mlp()
    proto.graph.node[0].input[0] = "nowhere"
    return proto


def future_opset() -> ModelProto:
    proto = tiny.mlp()
    proto.opset_import[0].version = 99
    return proto


def future_ir() -> ModelProto:
    proto = tiny.mlp()
    proto.ir_version = 99
    return proto


def index_out_of_range() -> ModelProto:
    parameters = {"table": tiny.weights(3, 4), "ids": np.array([7], np.int64)}
    nodes = [
        helper.make_node("Add", ["ids", "zero"], ["far"], "shift"),  # so that it is not folded at load
        helper.make_node("Gather", ["table", "far"], ["y"], "look up"),
    ]
    zero = tiny.tensor("zero", [1], TensorProto.INT64)
    return tiny.model(nodes, [zero], [tiny.tensor("y", [1, 4])], parameters)


def wrong_reshape() -> ModelProto:
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"], "reshape")]
    return tiny.model(
        nodes, [tiny.tensor("x", ["n"])], [tiny.tensor("y", None)], {"shape": np.array([3, 5], np.int64)}
    )


def terabytes() -> ModelProto:
    nodes = [helper.make_node("Expand", ["x", "shape"], ["y"], "expand")]
    shape = {"shape": np.array([2**21, 2**20], np.int64)}
    return tiny.model(nodes, [tiny.tensor("x", [1])], [tiny.tensor("y", ["m", "n"])], shape)


ORT_REFUSES: dict[str, tuple[Callable[[], ModelProto], str, str]] = {
    "unknown op": (unknown_op, "Releux", "operator"),
    "cycle": (cycle, "during load", "cycle"),
    "undefined input": (undefined_input, "nowhere", "wrong name"),
    "future opset": (future_opset, "99", "update onnxruntime"),
    "future IR": (future_ir, "99", "update onnxruntime"),
    "index out of range": (index_out_of_range, "look up", "index"),
    "reshape that does not fit": (wrong_reshape, "during first run", "inputs"),
    "more memory than there is": (terabytes, "during first run", "memory"),
}


@pytest.mark.parametrize("case", ORT_REFUSES)
def test_a_model_that_ort_refuses(case: str, tmp_path: Path) -> None:
    """It opens, since it is a model: what fails is loading or running it, in a worker."""
    make, problem, fix = ORT_REFUSES[case]
    path = tiny.save(make(), tmp_path, "refused.onnx")
    assert str(wb.load(path).describe())
    error = refused(path, wb.RunFailed)
    assert "refused" in error.problem.split(":")[0]
    assert problem in error.problem
    assert fix in error.fix


def test_external_data_that_is_missing(tmp_path: Path) -> None:
    path = tiny.save_external(tiny.mlp(), tmp_path, "large.onnx")
    (tmp_path / "large.onnx.data").unlink()
    error = refused(path)
    assert "large.onnx" in error.problem
    assert "'large.onnx.data' beside it: it is missing" in error.problem
    assert "model's folder" in error.fix


@pytest.mark.parametrize(
    ("way", "words"),
    [("up", "'../secret.data'"), ("absolute", "the absolute path '/"), ("link", "'link.data', a link")],
)
def test_external_data_that_climbs_out(way: str, words: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    path = tiny.save_external(tiny.mlp(), folder, "large.onnx")
    outside = (folder / "large.onnx.data").rename(tmp_path / "secret.data")
    location = {"up": "../secret.data", "absolute": str(outside), "link": "link.data"}[way]
    if way == "link":
        (folder / location).symlink_to(outside)
    proto = ModelProto.FromString(path.read_bytes())
    for tensor in proto.graph.initializer:
        next(entry for entry in tensor.external_data if entry.key == "location").value = location
    path.write_bytes(proto.SerializeToString())
    error = refused(path)
    assert "large.onnx" in error.problem
    assert words in error.problem
    assert "own folder" in error.fix


@pytest.mark.parametrize(
    ("feed", "problem", "fix"),
    [
        ({"x": np.ones((2, 5), np.float32)}, "has 5 in axis 1, where 4 is fixed", "float32[batch,4]"),
        ({"x": np.ones(4, np.float32)}, "has 1 dims, [4], where 2 are declared", "float32[batch,4]"),
        ({"x": np.ones((2, 4), np.float64)}, "is of type float64", "astype('float32')"),
        ({"x": [["a"]]}, "cannot hold", "array"),
        ({"y": np.ones((2, 4), np.float32)}, "no input 'y'", "'x'"),
        ({}, "No value is given for 'x'", "float32[batch,4]"),
    ],
)
def test_inputs_that_do_not_fit(feed: dict[str, Any], problem: str, fix: str) -> None:
    error = refused(tiny.mlp(), wb.InputError, inputs=feed)
    assert problem in error.problem
    assert fix in error.fix


def named(name: str) -> ModelProto:
    """A model that carries the name wherever there is one."""
    proto = tiny.mlp()
    proto.graph.name = proto.producer_name = proto.doc_string = name
    for place, node in enumerate(proto.graph.node):
        node.name = f"{name}{place}"
    proto.graph.input[0].name = proto.graph.node[0].input[0] = f"in {name}"
    proto.graph.output[0].name = proto.graph.node[-1].output[0] = f"out {name}"
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    proto.graph.output[0].type.tensor_type.shape.dim[0].dim_param = name
    return proto


@pytest.mark.parametrize("case", STRANGE)
def test_strange_names_are_measured_shown_and_saved(case: str, tmp_path: Path) -> None:
    name = STRANGE[case]
    result = compared(named(name), inputs={f"in {name}": np.ones((2, 4), np.float32)})
    (agreement,) = result.agreement
    assert (agreement.output, agreement.agrees) == (f"out {name}", True)
    assert len(str(result)) < 10_000
    pages = result.record._repr_html_() + result.runs[0]._repr_html_()
    assert "<img" not in pages
    assert len(pages) < 200_000
    again = wb.open(result.save(tmp_path / "strange.ortbench"))
    assert again.record == result.record


@pytest.mark.parametrize("case", STRANGE)
def test_strange_names_are_refused_in_few_words(case: str) -> None:
    name = STRANGE[case].replace("\0", "")  # ORT's own message ends at one
    proto = named(name)
    proto.graph.node[2].op_type = name
    error = refused(proto, wb.RunFailed)
    assert "operator" in error.fix
    assert "\x1b" not in str(error)
