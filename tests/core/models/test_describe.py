"""What a description says, from the structure alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from tests.core.models import tiny
from workbench.core.models import description, load
from workbench.core.models.declared import MapType, OptionalType, SequenceType, TensorType
from workbench.core.models.description import check_supported
from workbench.core.text import aligned, counted


@pytest.mark.parametrize("name", tiny.ALL)
def test_every_form_renders(name: str) -> None:
    description = load(tiny.ALL[name]()).describe()
    assert description == load(tiny.ALL[name]()).describe()
    frame = description.to_frame()
    assert list(frame.columns) == ["field", "value"]
    assert {"parameters", "opsets", "operators", "family"} <= set(frame["field"])
    text = " ".join(str(description).split())  # in a console long values are broken
    assert all(" ".join(line.split()) in text for line in frame["value"])
    assert description._repr_html_().count("<tr>") == len(frame)


def test_the_numbers_of_a_small_net() -> None:
    description = load(tiny.conv_net()).describe()
    assert description.parameters == 6 * 3 * 3 * 3 + 4 * 6 + 6 * 10
    assert description.operators[0] == ("BatchNormalization", 1)
    assert description.nodes == 6
    assert (description.ir_version, description.opsets) == (tiny.IR, (("", tiny.OPSET),))
    assert description.inputs[0].type == TensorType(TensorProto.FLOAT, ("batch", 3, "height", "width"))
    assert description.producer == "tiny"
    assert description.problems == ()
    assert "opset 20 · 6 nodes · 1 input" in description.headline


def test_types_that_are_no_tensors() -> None:
    def kind(name: str) -> object:
        return load(tiny.ALL[name]()).describe().inputs[0].type

    assert kind("sequence") == SequenceType(TensorType(TensorProto.FLOAT, ("n", 2)))
    assert kind("optional") == OptionalType(TensorType(TensorProto.FLOAT, (2,)))
    assert kind("dictionary") == MapType(TensorProto.INT64, TensorType(TensorProto.FLOAT, ()))
    assert str(kind("sequence")) == "sequence(float32[n,2])"
    assert str(kind("dictionary")) == "map(int64, float32[])"


def test_subgraphs_and_functions_are_counted() -> None:
    description = load(tiny.nested_if(5)).describe()
    assert (description.nodes, description.inner_nodes) == (1, 10)
    assert dict(description.operators) == {"If": 5, "Neg": 6}
    assert description.control_flow == ("If × 5",)
    called = load(tiny.function()).describe()
    assert dict(called.operators) == {"local.Twice": 2, "Add": 1}
    assert called.functions == ("local.Twice",)


@pytest.mark.parametrize(
    ("name", "family"),
    [("bert_like", "BERT-like"), ("conv_net", "vision"), ("mlp", "other"), ("embedding", "other")],
)
def test_the_family_and_its_reason(name: str, family: str) -> None:
    description = load(tiny.ALL[name]()).describe()
    assert description.family == family
    assert description.family_reason


def test_a_cache_makes_it_gpt_like_and_sound_makes_it_audio() -> None:
    proto = tiny.embedding()
    proto.graph.output.append(tiny.tensor("present.0.key", [1, 2, "past", 4]))
    assert load(proto).describe().family == "GPT-like"
    proto = tiny.mlp()
    proto.graph.input[0].name = proto.graph.node[0].input[0] = "waveform"
    assert load(proto).describe().family == "audio"


def test_quantization_is_seen() -> None:
    assert "QDQ" in str(load(tiny.quantized()).describe().quantized)
    assert load(tiny.mlp()).describe().quantized is None


def test_weights_listed_as_inputs_are_no_inputs() -> None:
    proto = tiny.mlp()
    proto.graph.input.append(tiny.tensor("w1", [4, 8]))
    assert [declared.name for declared in load(proto).describe().inputs] == ["x"]


def test_weights_in_constant_nodes_are_parameters() -> None:
    value = onnx.numpy_helper.from_array(tiny.weights(50, 60))
    node = helper.make_node("Constant", [], ["y"], "weights", value=value)
    assert load(tiny.model([node], [], [tiny.tensor("y", [50, 60])])).describe().parameters == 3000


def test_what_an_older_ort_would_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_supported(tiny.mlp()) == ()
    monkeypatch.setattr(description, "MAX_IR", 8)
    monkeypatch.setattr(description, "MAX_OPSET", 17)
    assert len(check_supported(tiny.mlp())) == 2


def test_the_structure_keeps_small_constants_and_drops_weights(tmp_path: Path) -> None:
    structure = load(tiny.save(tiny.mlp(width=2000), tmp_path)).structure
    sizes = {tensor.name: len(tensor.raw_data) for tensor in structure.graph.initializer}
    assert sizes == {"w1": 0, "b1": 0, "w2": 0}
    small = load(tiny.embedding()).structure
    assert {tensor.name: len(tensor.raw_data) for tensor in small.graph.initializer} == {
        "flat": 8,
        "table": 176,
    }


def test_reading_models_never_imports_onnxruntime(tmp_path: Path) -> None:
    path = tiny.save(tiny.bert_like(), tmp_path)
    code = (
        "import sys; import workbench.core.models; heavy = {'onnx', 'numpy', 'pandas'} & set(sys.modules);"
        "from workbench.core.models import load; m = load(sys.argv[1]); m.describe(); m.inputs();"
        "print(sorted(heavy), sorted({'onnxruntime', 'pandas', 'plotly', 'onnx_ir'} & set(sys.modules)))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert process.stdout.split("\n")[0] == "[] []"


def test_in_a_plain_console_it_is_lines_under_one_another() -> None:
    description = load(tiny.quantized()).describe()
    assert repr(description) == str(description)
    first, *lines = str(description).splitlines()
    assert first.startswith(description.name)
    assert all(len(line) <= 100 for line in lines)
    assert {line[:16].strip() for line in lines if line[:16].strip()} == set(dict(description.rows()))


def test_a_long_value_goes_on_below_itself() -> None:
    text = aligned([("name", "word " * 40), ("short", "one\ntwo")], 10)
    assert text.splitlines()[1].startswith(" " * 12 + "word")
    assert text.splitlines()[-2:] == ["  short     one", " " * 12 + "two"]
    assert counted(1, "pass", "passes") == "1 pass"
    assert counted(1200, "node") == "1,200 nodes"
