"""What `wb.deploy` writes."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from onnx import TensorProto, helper

import workbench as wb
from tests.core.models import tiny
from tests.factories import results
from tests.factories.environments import environment
from tests.imports import imported_packages
from workbench.core.config.plan import session_plan
from workbench.core.models.fingerprint import file_sha256
from workbench.core.models.model import Model
from workbench.core.worker.packages import Packages
from workbench.features.deploy.contract import contract_of
from workbench.features.deploy.folder import with_libraries
from workbench.features.deploy.session_file import session_file
from workbench.features.deploy.texts import SERVER_PACKAGES, dockerfile, requirements
from workbench.features.deploy.triton import not_expressed


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return wb.load(tiny.save(tiny.mlp(), tmp_path))


def triton_config(path: Path) -> Any:
    """Read config.pbtxt with the schema that Triton publishes in its client, which loads without gRPC."""
    package = importlib.util.find_spec("tritonclient")
    assert package is not None
    assert package.submodule_search_locations
    file = Path(package.submodule_search_locations[0]) / "grpc" / "model_config_pb2.py"
    spec = importlib.util.spec_from_file_location("model_config_pb2", file)
    assert spec is not None
    assert spec.loader is not None
    schema = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(schema)
    return text_format.Parse(path.read_text("utf-8"), schema.ModelConfig())


def test_outputs_that_were_not_compared_do_not_agree() -> None:
    record = results.deployment()
    assert record.check is not None
    (row,) = record.check.agreement
    for agreement, agrees, words in (
        ((), None, "outputs were not compared"),
        ((replace(row, agrees=None),), None, "is not known"),
        ((row,), True, "outputs equal those measured"),
        ((row, replace(row, agrees=False)), False, "OUTPUTS DIFFER"),
    ):
        check = replace(record.check, agreement=agreement)
        assert check.agrees is agrees
        assert words in str(replace(record, check=check))


def test_a_strangers_check_without_a_duration_has_figures() -> None:
    record = results.deployment()
    assert record.check is not None
    rounds = tuple(
        replace(part, served=tuple(replace(load, elapsed_s=1e-310) for load in part.served))
        for part in record.check.rounds
    )
    assert "requests/s" in str(replace(record, check=replace(record.check, rounds=rounds)))


def test_the_folder_of_a_user_who_is_not_here_is_refused(model: Model) -> None:
    with pytest.raises(wb.WorkbenchError, match="~no-such-user/served is in the folder of a user"):
        wb.deploy(model, wb.Config(), "~no-such-user/served")


def test_a_python_server_needs_nothing_of_the_workbench(model: Model, tmp_path: Path) -> None:
    result = wb.deploy(model, wb.Config(intra_op_threads=1, spinning=False), tmp_path / "out")
    names = {file.path for file in result.record.files}
    assert names == {
        *("server.py", "session.py", "deployment.json", "examples.npz", "model/model.onnx"),
        *("client.py", "requirements.txt", "Dockerfile", "README.md"),
    }
    assert len((tmp_path / "out" / "server.py").read_text("utf-8").splitlines()) <= 300
    for path in (tmp_path / "out").rglob("*.py"):
        imported = imported_packages(path)
        assert "workbench" not in imported, path
    document = json.loads((tmp_path / "out" / "deployment.json").read_text("utf-8"))
    assert document["files"] == {"model/model.onnx": file_sha256(model.path)}
    assert document["providers"] == ["CPUExecutionProvider"]
    assert document["fallback"] is False
    session = (tmp_path / "out" / "session.py").read_text("utf-8")
    assert "options.intra_op_num_threads = 1" in session
    assert "options.add_session_config_entry('session.intra_op.allow_spinning', '0')" in session
    assert 'os.environ["ORT_DISABLE_TELEMETRY"] = "1"' in session
    requirements = (tmp_path / "out" / "requirements.txt").read_text("utf-8").split()
    assert requirements[0].startswith("onnxruntime==1.")
    assert all("==" in line for line in requirements)


@pytest.mark.real
def test_a_session_with_bound_buffers_gives_the_same_outputs(model: Model) -> None:
    feed, answers = dict(model.inputs().feeds[0]), []
    for bound in (False, True):
        names: dict[str, Any] = {}
        exec(session_file(session_plan(wb.Config(io_binding=bound))), names)
        answers.append(names["run"](names["make_session"](str(model.path)), feed))
    assert all(map(np.array_equal, *answers))


def test_requirements_are_those_of_the_configs_environment(model: Model, tmp_path: Path) -> None:
    python = environment(tmp_path / "old", onnxruntime="1.20.1", numpy="1.26.4", fastapi="0.115.1")
    wb.deploy(model, wb.Config(runtime=python, intra_op_threads=1), tmp_path / "out")
    lines = (tmp_path / "out" / "requirements.txt").read_text("utf-8").split()
    assert lines[:3] == ["onnxruntime==1.20.1", "numpy==1.26.4", "fastapi==0.115.1"]
    assert lines[3].startswith("uvicorn==")  # as installed here
    for path in (tmp_path / "out").rglob("*"):
        assert path.suffix in (".onnx", ".npz", "") or str(tmp_path) not in path.read_text("utf-8")
    bare = environment(tmp_path / "bare", numpy="2.0.0")
    with pytest.raises(wb.DeployError, match="has no ONNX Runtime"):
        wb.deploy(model, wb.Config(runtime=bare), tmp_path / "none")


@pytest.mark.parametrize(
    ("providers", "build", "line"),
    [
        (("CPUExecutionProvider",), "onnxruntime-gpu", "onnxruntime==1.0"),
        (("CPUExecutionProvider",), "onnxruntime-openvino", "onnxruntime-openvino==1.0"),
        (
            ("CUDAExecutionProvider", "CPUExecutionProvider"),
            "onnxruntime-gpu",
            "onnxruntime-gpu[cuda,cudnn]==1.0",
        ),
        (("OpenVINOExecutionProvider",), "onnxruntime-openvino", "onnxruntime-openvino==1.0"),
        (("OpenVINOExecutionProvider",), "onnxruntime-gpu", "onnxruntime-openvino"),
        (("AzureExecutionProvider",), "onnxruntime-gpu", "onnxruntime-gpu==1.0"),
    ],
)
def test_the_build_of_onnx_runtime_has_the_providers(
    providers: tuple[str, ...], build: str, line: str
) -> None:
    packages = Packages("3.12", {build: "1.0", **dict.fromkeys(SERVER_PACKAGES, "1.0")})
    assert requirements(providers, packages)[0] == line
    assert "FROM python:3.12-slim" in dockerfile(packages)


def test_libraries_of_custom_operators_travel_with_it(model: Model, tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "ops.so").write_bytes(place.encode())
    config = wb.Config(custom_ops=[str(tmp_path / "a/ops.so"), str(tmp_path / "b/ops.so")])
    wb.deploy(model, config, tmp_path / "out")
    session = (tmp_path / "out" / "session.py").read_text("utf-8")
    assert str(tmp_path) not in session
    page = (tmp_path / "out" / "README.md").read_text("utf-8").replace("\\", "")
    assert str(tmp_path) not in page
    assert "ops.so" in page
    assert "register_custom_ops_library(str(LIBRARIES / '1-ops.so'))" in session
    document = json.loads((tmp_path / "out" / "deployment.json").read_text("utf-8"))
    assert set(document["files"]) == {"libraries/1-ops.so", "libraries/ops.so", "model/model.onnx"}
    assert (tmp_path / "out/libraries/1-ops.so").read_bytes() == b"b"
    (note,) = not_expressed(config)
    assert "op_library_filename" in note


def test_libraries_of_one_name_in_two_stages_are_both_kept(tmp_path: Path) -> None:
    plans = []
    for place in ("a", "b", "same as b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "ops.so").write_bytes(place[-1].encode())
        plan = session_plan(wb.Config(custom_ops=[str(tmp_path / place / "ops.so")]))
        plans.append(with_libraries(plan, tmp_path))
    assert [plan.custom_ops for plan in plans] == [("ops.so",), ("1-ops.so",), ("1-ops.so",)]
    assert (tmp_path / "libraries" / "ops.so").read_bytes() == b"a"


def test_outputs_that_could_not_be_compared_are_not_called_equal() -> None:
    record = results.deployment()
    assert record.check is not None
    agreement = tuple(replace(row, agrees=None, reason="no values") for row in record.check.agreement)
    text = str(replace(record, check=replace(record.check, agreement=agreement)))
    assert "whether outputs equal those measured is not known" in text
    assert "no values" in text


def test_a_library_that_is_not_there_is_named(model: Model, tmp_path: Path) -> None:
    lost = wb.Provider("Other", library=str(tmp_path / "lost.so"))
    with pytest.raises(wb.DeployError, match=r"no library .*lost\.so"):
        wb.deploy(model, wb.Config(providers=[lost, "cpu"]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_load_test_says_how_many_runs_go_on_at_once(model: Model, tmp_path: Path) -> None:
    loaded = wb.LoadTest(results.load_test())
    config = loaded.record.runs[0].config
    result = wb.deploy(model, config, tmp_path / "out", concurrency=loaded)
    assert result.record.concurrency == loaded.best_callers(config) > 1
    with pytest.raises(wb.ConfigError, match="has no run of this config"):
        wb.deploy(model, wb.Config(level="basic", spinning=False), tmp_path / "other", concurrency=loaded)


def test_weights_beside_the_model_travel_with_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tiny.save_external(tiny.mlp(), tmp_path / "in")
    result = wb.deploy(path, wb.Config(), tmp_path / "out")
    assert "model/tiny.onnx.data" in {file.path for file in result.record.files}
    assert (tmp_path / "out/model/tiny.onnx.data").read_bytes() == (
        tmp_path / "in/tiny.onnx.data"
    ).read_bytes()


def test_a_folder_that_holds_something_is_left_alone(model: Model, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    with pytest.raises(wb.DeployError, match="not an empty folder"):
        wb.deploy(model, wb.Config(), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_nothing_is_left_of_a_deployment_that_failed(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.features.deploy.folder.session_file", fail)
    with pytest.raises(wb.DeployError, match="No space left on device"):
        wb.deploy(model, wb.Config(), tmp_path / "out" / "new")
    assert list((tmp_path / "out").iterdir()) == []


def test_texts_of_a_model_are_no_markup_and_no_code(tmp_path: Path) -> None:
    name = '"\n} `<img src=x>`|\\'
    node = helper.make_node("Identity", [name], ["y"])
    proto = tiny.model([node], [tiny.tensor(name, ["n", 2])], [tiny.tensor("y", ["n", 2])])
    path = tiny.save(proto, tmp_path)
    wb.deploy(path, wb.Config(), tmp_path / "python", name="../../up <b>")
    page = (tmp_path / "python" / "README.md").read_text("utf-8")
    assert r"\<img src=x\>" in page
    assert "<img" not in page.replace(r"\<", "")
    assert "<b>" not in page
    record = wb.deploy(path, wb.Config(), tmp_path / "triton", "triton", name="../../up <b>").record
    assert [file.path for file in record.files] == ["up-b/1/model.onnx", "up-b/config.pbtxt"]
    config = triton_config(tmp_path / "triton" / "up-b" / "config.pbtxt")
    assert config.input[0].name == name
    assert list(config.input[0].dims) == [2]


def test_triton_says_what_it_cannot_express(tmp_path: Path, model: Model) -> None:
    config = wb.Config(
        level="extended",
        intra_op_threads=2,
        execution_mode="parallel",
        cpu_arena=False,
        disabled_passes=("GeluFusionL2",),
        spinning=False,
        session_entries={"session.use_device_allocator_for_initializers": "1"},
    )
    result = wb.deploy(model, config, tmp_path / "out", "triton", concurrency=3)
    written = triton_config(tmp_path / "out" / "tiny" / "config.pbtxt")
    assert written.max_batch_size == (8 if contract_of(model).batchable else 0)
    assert written.instance_group[0].count == 3
    assert written.optimization.graph.level == 1
    assert {key: value.string_value for key, value in written.parameters.items()} == {
        "intra_op_thread_count": "2",
        "execution_mode": "1",
        "enable_mem_arena": "0",
        "session.use_device_allocator_for_initializers": "1",
    }
    assert len(written.model_warmup[0].inputs) == len(contract_of(model).inputs)
    assert result.record.notes == (
        "not expressed in Triton: disabled_passes=GeluFusionL2",
        "not expressed in Triton: session.inter_op.allow_spinning=0",
        "not expressed in Triton: session.intra_op.allow_spinning=0",
    )


def test_triton_takes_the_accelerators_by_name() -> None:
    tensorrt = wb.Provider("tensorrt", {"trt_fp16_enable": True, "trt_max_workspace_size": 1 << 30})
    config = wb.Config(
        providers=(tensorrt, wb.Provider("cuda", {"cudnn_conv_algo_search": "HEURISTIC"}), "cpu")
    )
    assert not list(not_expressed(config))
    assert list(not_expressed(wb.Config(providers=("coreml", "cpu")))) == [
        "the provider CoreMLExecutionProvider"
    ]
    assert next(not_expressed(wb.Config(level="layout"))).startswith('level="layout"')
    assert list(not_expressed(wb.Config(device_policy="prefer_cpu"))) == ["device_policy='prefer_cpu'"]
    assert list(not_expressed(wb.Config(memory_reuse=False))) == ["memory_reuse=False"]


def test_a_model_with_sequences_is_refused_by_name(tmp_path: Path) -> None:
    made = helper.make_node("SequenceConstruct", ["x"], ["s"])
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    path = tiny.save(tiny.model([made], [tiny.tensor("x", [2])], [sequence]), tmp_path)
    with pytest.raises(wb.DeployError, match=r"output s.* cannot travel"):
        wb.deploy(path, wb.Config(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"concurrency": 0},
        {"max_queue": True},
        {"timeout_s": -1},
        {"max_body_bytes": float("nan")},
        {"kind": "go"},
    ],
)
def test_bad_bounds_are_refused_first(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(wb.ConfigError):
        wb.deploy("digits-conv", wb.Config(), tmp_path / "out", **changes)


def test_examples_are_the_inputs_of_the_bench(model: Model, tmp_path: Path) -> None:
    wb.deploy(model, wb.Config(), tmp_path / "out", seed=3)
    with np.load(tmp_path / "out" / "examples.npz", allow_pickle=False) as arrays:
        (expected,) = model.inputs(seed=3).feeds[0].values()
        assert np.array_equal(arrays["input_0"], expected)
