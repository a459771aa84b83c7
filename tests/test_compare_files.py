"""Model files as subjects of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from workbench.apps.cli import main
from workbench.core.errors import ModelError
from workbench.features.base.subjects import subjects_of

SIZE = 32


def product(*, output: str = "y", noise: float = 0.0, size: int = SIZE, source: str = "x") -> onnx.ModelProto:
    """One matrix product with weights that are disturbed by a share of themselves."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(size, size))
    weights = (weights * (1 + noise * rng.normal(size=weights.shape))).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", [source, "w"], [output])],
        "g",
        [helper.make_tensor_value_info(source, TensorProto.FLOAT, ["batch", size])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", size])],
        [numpy_helper.from_array(weights, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("files")
    models = {
        "a": product(),
        "same": product(),
        "disturbed": product(noise=0.12),
        "renamed": product(output="logits"),
        "other": product(size=8, source="tokens"),
    }
    paths = {}
    for name, model in models.items():
        path = folder / f"{name}.onnx"
        path.write_bytes(model.SerializeToString())
        paths[name] = str(path)
    return paths


def test_files_and_pairs_become_configs_of_the_first_file(files: dict[str, str]) -> None:
    model, configs = subjects_of(files["a"], [files["same"]], None)
    assert str(model.path) == files["a"]
    assert configs == (wb.Config(), wb.Config(precision=wb.PreparedModel(files["same"])))
    basic, threads = wb.Config(level="basic"), wb.Config(intra_op_threads=1)
    opened = wb.load(files["same"])
    _, configs = subjects_of((files["a"], basic), [(opened, threads), (wb.load(files["a"]), threads)], None)
    assert configs == (basic, threads.replace(precision=wb.PreparedModel(str(opened.path))), threads)
    _, (_, renamed) = subjects_of(files["a"], [files["renamed"]], {"y": "logits"})
    assert renamed.precision == wb.PreparedModel(files["renamed"], renamed_outputs={"y": "logits"})
    assert wb.Config.from_dict(renamed.to_dict()) == renamed


def test_the_precision_of_a_further_file_is_applied_to_it(files: dict[str, str]) -> None:
    int8 = wb.Config(precision=wb.DynamicInt8(), intra_op_threads=1)
    _, (_, config) = subjects_of(files["a"], [(files["renamed"], int8)], {"y": "logits"})
    file = wb.PreparedModel(files["renamed"], renamed_outputs={"y": "logits"}, precision=wb.DynamicInt8())
    assert config == wb.Config(precision=file, intra_op_threads=1)
    assert config.arithmetic == wb.DynamicInt8()
    assert wb.Config.from_dict(config.to_dict()) == config
    code = config.to_python("model.onnx")
    assert files["renamed"] in code
    assert "quantize_dynamic" in code
    with pytest.raises(wb.ConfigError, match="a second file"):
        wb.PreparedModel("a.onnx", precision=wb.PreparedModel("b.onnx"))


@pytest.mark.slow
@pytest.mark.real
def test_a_further_file_is_quantized_and_judged_as_int8(files: dict[str, str]) -> None:
    int8 = wb.Config(precision=wb.DynamicInt8())
    result = compared(files["a"], (files["disturbed"], int8), files["disturbed"])
    assert [verdict.kind == "outputs differ" for verdict in result.verdicts] == [False, True]
    assert result.runs[1].preparation is not None
    names = [step.name for step in result.runs[1].preparation.steps]
    assert (names[0], names[-1]) == ("prepared file", "dynamic int8")


@pytest.mark.parametrize(
    ("others", "outputs", "problem"),
    [
        ([], None, "two configs or more"),
        ([wb.Config()], None, "two configs or more"),
        ([wb.Config(), "same"], None, "a config stands alone among model files"),
        (["same", 3], None, "3 is no config, no model and no pair"),
        ([("same", "level=all")], None, "no pair of both"),
        ([("same", wb.Config(precision=wb.PreparedModel("x.onnx")))], None, "names another file"),
        ([wb.Config(), wb.Config()], "ignore", "all configs are of one model file"),
        (["same"], "ignored", "says nothing about outputs"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    files: dict[str, str], others: list[Any], outputs: Any, problem: str
) -> None:
    def path(other: Any) -> Any:
        if isinstance(other, tuple):
            return (path(other[0]), other[1])
        return files.get(other, other) if isinstance(other, str) else other

    with pytest.raises(wb.ConfigError, match=problem):
        subjects_of(files["a"], [path(other) for other in others], outputs)


def compared(*subjects: Any, **options: Any) -> wb.Comparison:
    return wb.compare(*subjects, budget_s=0.3, progress=False, keep=False, **options)


@pytest.mark.real
def test_files_are_judged_by_the_arithmetic_in_them(files: dict[str, str]) -> None:
    result = compared(files["a"], files["same"], files["disturbed"])
    assert [verdict.kind == "outputs differ" for verdict in result.verdicts] == [False, True]
    assert "at least 60 dB" in result.verdicts[1].reason


@pytest.mark.real
def test_renamed_outputs_are_compared_under_the_names_of_the_first_file(files: dict[str, str]) -> None:
    refused = compared(files["a"], files["renamed"])
    assert refused.runs[1].failure is not None
    assert "outputs={'old': 'new'}" in refused.runs[1].failure.fix
    result = compared(files["a"], files["renamed"], outputs={"y": "logits"})
    (row,) = result.agreement
    assert (row.label, row.output, row.agrees) == ("B", "y", True)


@pytest.mark.slow
@pytest.mark.real
def test_two_nets_are_compared_by_time_alone_and_the_verdict_says_so(
    files: dict[str, str], tmp_path: Path
) -> None:
    result = compared(files["a"], files["other"], outputs="ignore")
    assert result.runs[1].latency.samples_s
    assert result.agreement == ()
    assert "timing only, as asked for: outputs were not compared" in str(result)
    assert "different nets" in {doubt.kind for doubt in result.doubts}
    assert [part.name for part in result.parts] == ["model files/B"], "kept from the start"
    reopened = wb.open(result.save(tmp_path / "nets.ortbench"))
    assert reopened.verdict == result.verdict
    assert str(reopened.files()) == str(result.files()), "the model is not needed"
    page = reopened.page_html().partition('<section id="model-files">')[2].partition("</section>")[0]
    assert "<td>float32[32,32]</td><td>float32[8,8]</td>" in page
    result.examine("explanation")
    assert [len(result.explanation(label).placement.nodes) for label in "AB"] == [1, 1]
    assert result.graph() is not None
    assert "w float32[32,32] → float32[8,8]" in str(result.files())
    with pytest.raises(wb.ConfigError, match="no run 'Z'"):
        result.files("Z")


@pytest.mark.real
def test_files_whose_difference_cannot_be_kept_give_a_warning_at_once(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ModelError("a.onnx is gone", "put it back")

    monkeypatch.setattr("workbench.features.compare.parts.file_difference", fail)
    with pytest.warns(UserWarning, match="files is not kept: a.onnx is gone") as warned:
        result = compared(files["a"], files["same"])
    assert warned[0].filename == __file__, "the line of the call"
    assert "Fix: put it back" in str(warned[0].message)
    assert result.parts == ()
    assert result.runs[1].latency.samples_s, "what was measured stays"


@pytest.mark.real
def test_files_are_compared_when_they_are_asked_for_and_a_reopened_result_says_what_it_needs(
    files: dict[str, str], tmp_path: Path
) -> None:
    result = compared(files["a"], wb.Config(), wb.Config(precision=wb.DynamicInt8()))
    assert result.parts == (), "a file that the workbench made is compared when somebody asks"
    bundle = result.save(tmp_path / "int8.ortbench")
    with pytest.raises(wb.WorkbenchError, match=r"the model is not at hand") as refused:
        wb.open(bundle).files()
    assert "attach(model).files()" in refused.value.fix
    assert "MatMulInteger" in str(result.files())
    assert result.made("model files", "B").to_frame().equals(result.files().to_frame())


@pytest.mark.real
def test_the_command_takes_files(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", files["a"], files["other"], "--b", "level=basic", "--ignore-outputs"]
    assert main([*arguments, "--budget", "0.3", "--no-history", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert "timing only" in text
    assert "level=basic" in text


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--c", "level=all"], "2 model files"),
        (["--ignore-outputs", "--rename-output", "y=z"], "both given"),
        (["--rename-output", "y"], "not OLD=NEW"),
    ],
)
def test_options_that_do_not_fit_files_are_refused(
    files: dict[str, str], options: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", files["a"], files["same"], *options]) == 2
    assert problem in capsys.readouterr().err
