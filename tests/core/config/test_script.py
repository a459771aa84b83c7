"""`to_python` prints a script that makes the same session with no workbench in sight."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given

from tests.core.config.ort_models import answer, write_model
from tests.core.config.strategies import configs
from workbench.core.bundle.comparison import InputsRecord
from workbench.core.config import Config, Provider
from workbench.core.config.script_inputs import draw_code

# Runs the script, saves the graph that its session made, and reports what took effect.
REPORT = """
import contextlib, io, json, runpy, sys, threading
import numpy, onnxruntime as ort
script, saved = sys.argv[1:3]
real, entries = ort.InferenceSession, {}
def session(model, options, **rest):
    options.optimized_model_filepath = saved
    return real(model, options, **rest)
ort.InferenceSession = session
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    names = runpy.run_path(script)
options = names["options"]
x = numpy.array([[-1, 0, 1, 2]], numpy.float32)
print(json.dumps({
    "printed": printed.getvalue(),
    "level": str(options.graph_optimization_level),
    "mode": str(options.execution_mode),
    "intra": options.intra_op_num_threads,
    "inter": options.inter_op_num_threads,
    "pattern": options.enable_mem_pattern,
    "reuse": options.enable_mem_reuse,
    "arena": options.enable_cpu_mem_arena,
    "deterministic": options.use_deterministic_compute,
    "spinning": options.get_session_config_entry("session.intra_op.allow_spinning")
        if "spinning" in sys.argv else None,
    "shrinkage": names["run_options"].get_run_config_entry("memory.enable_memory_arena_shrinkage")
        if "shrinkage" in sys.argv else None,
    "providers": names["session"].get_providers(),
    "shape": names["session"].get_inputs()[0].shape,
    "y": [array.tolist() for array in names["run"]({"x": x})],
    "modules": sorted(name for name in sys.modules if name.partition(".")[0] == "workbench"),
}))
"""


def effect(config: Config, folder: Path, *asked: str) -> dict[str, Any]:
    """Run the script on ONNX Runtime in another process."""
    script = folder / "script.py"
    script.write_text(config.to_python(write_model(folder / 'it\'s a "model"\n.onnx')), encoding="utf-8")
    report: dict[str, Any] = answer(REPORT, str(script), str(folder / "saved.onnx"), *asked)
    report["ops"] = [node.op_type for node in onnx.load(folder / "saved.onnx").graph.node]
    return report


@pytest.mark.real
def test_told_nothing(tmp_path: Path) -> None:
    report = effect(Config(), tmp_path)
    assert report["providers"] == ["CPUExecutionProvider"]
    assert report["level"].endswith("ORT_ENABLE_ALL")
    assert report["ops"] == ["Relu"]
    assert report["shape"] == ["batch", 4]
    assert report["y"] == [[[0.0, 0.0, 1.0, 2.0]]]
    assert report["modules"] == []
    assert "input: x tensor(float) ['batch', 4]" in report["printed"]


@pytest.mark.real
def test_everything_told(tmp_path: Path) -> None:
    config = Config(
        level="extended",
        disabled_passes=("EliminateIdentity",),
        providers=["cpu"],
        intra_op_threads=2,
        inter_op_threads=2,
        execution_mode="parallel",
        spinning=False,
        affinity="1",
        memory_pattern=False,
        memory_reuse=False,
        cpu_arena=True,
        free_dimensions={"batch": 1},
        io_binding=True,
        deterministic=True,
        run_entries={"memory.enable_memory_arena_shrinkage": "cpu:0"},
    )
    report = effect(config, tmp_path, "spinning", "shrinkage")
    assert report["level"].endswith("ORT_ENABLE_EXTENDED")
    assert report["mode"].endswith("ORT_PARALLEL")
    assert report["ops"] == ["Identity", "Relu"]
    assert (report["intra"], report["inter"]) == (2, 2)
    assert (report["pattern"], report["reuse"], report["arena"]) == (False, False, True)
    assert report["deterministic"] is True
    assert report["spinning"] == "0"
    assert report["shrinkage"] == "cpu:0"
    assert report["shape"] == [1, 4]
    assert report["y"] == [[[0.0, 0.0, 1.0, 2.0]]]


@pytest.mark.real
@pytest.mark.parametrize(("level", "ops"), [("disabled", ["Identity", "Relu"]), ("basic", ["Relu"])])
def test_the_level_decides_the_graph(level: Any, ops: list[str], tmp_path: Path) -> None:
    assert effect(Config(level=level), tmp_path)["ops"] == ops


@given(configs())
def test_every_script_is_python_of_literals_only(config: Config) -> None:
    tree = ast.parse(config.to_python("model.onnx"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [alias.name for node in imports for alias in node.names] == ["os", "onnxruntime"]
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert {
        name for name in called if not name.startswith(("ort.", "options.", "run_options.", "session."))
    } <= {
        "print",
        "set",
        "zip",
        "bind",
        "feeds.items",
        "binding.bind_ortvalue_input",
        "binding.bind_ortvalue_output",
        "binding.bind_output",
        "binding.get_outputs",
        "binding.copy_outputs_to_cpu",
    }


def test_providers_and_their_options_are_printed_in_order() -> None:
    config = Config(providers=[Provider("tensorrt", trt_fp16_enable=True), "cuda", "cpu"])
    text = config.to_python(Path("folder") / "model.onnx")
    assert "('TensorrtExecutionProvider', {'trt_fp16_enable': 'True'})" in text
    assert text.index("Tensorrt") < text.index("CUDA") < text.index("CPU")
    assert repr(str(Path("folder") / "model.onnx")) in text


def test_hostile_texts_stay_literals() -> None:
    evil = "'); import os; os.system('true') #\n\"\"\""
    config = Config(
        free_dimensions={evil: 1},
        session_entries={evil: evil},
        providers=[("Other", {evil: evil})],
        allow_unknown=True,
    )
    tree = ast.parse(config.to_python(evil))
    assert [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import)] == [
        "import os",
        "import onnxruntime as ort",
    ]
    assert not any(isinstance(node, ast.Attribute) and node.attr == "system" for node in ast.walk(tree))


def test_every_script_turns_telemetry_off_before_it_imports_onnxruntime() -> None:
    for config in (Config(), Config(precision="float16")):
        text = config.to_python("model.onnx")
        off = text.index('os.environ["ORT_DISABLE_TELEMETRY"] = "1"')
        assert off < min(text.index("import onnxruntime"), text.find("from onnxruntime") % len(text))


def test_a_script_writes_only_into_its_folder() -> None:
    """Before, the files that it prepared stood beside the model."""
    model, folder = Path("models") / "net.onnx", Path("out")
    for asked, expected in ((folder, folder), (None, Path("net-prepared"))):
        text = Config(precision="float16").to_python(model, asked)
        assert f"os.makedirs({str(expected / 'float16')!r}, exist_ok=True)" in text
        assert text.count(str(Path("models"))) == text.count(repr(str(model)))


def test_a_script_that_prepares_draws_what_it_needs_and_times_a_call() -> None:
    text = Config(precision="static_int8").to_python("net.onnx", sizes={"it's": 3})
    compile(text, "script", "exec")
    assert text.count("def draw(") == 1
    assert """SIZES = {"it's": 3}""" in text
    assert "os.path.exists(path)" in text
    assert text.index("def run(") < text.index('if __name__ == "__main__":') < text.index("one call: ")
    assert "def draw(" not in Config().to_python("net.onnx")


def test_a_constant_of_ort_is_no_text_in_the_script() -> None:
    script = Config(level="extended", intra_op_threads=2).to_python("model.onnx")
    assert "options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED\n" in script
    assert "options.intra_op_num_threads = 2\n" in script


def described(**kinds: tuple[str, str]) -> InputsRecord:
    """Return inputs by name: the text of the shape, and the guess in words."""
    shapes = tuple((name, shape) for name, (shape, _) in kinds.items())
    return InputsRecord(
        "random, seed 0", 0, shapes, tuple(f"{name}: {words}" for name, (_, words) in kinds.items())
    )


def drawn(record: InputsRecord, **types: str) -> dict[str, np.ndarray[Any, Any]]:
    """Run the script's `draw` on a session with inputs of these types."""
    names: dict[str, Any] = {"np": np}
    exec(draw_code(record), names)
    inputs = [SimpleNamespace(name=name, type=types.get(name, "tensor(int64)")) for name, _ in record.shapes]
    arrays: dict[str, np.ndarray[Any, Any]] = names["draw"](inputs, 1)
    return arrays


def test_a_script_draws_values_of_the_kinds_that_were_measured() -> None:
    record = described(
        ids=("int64[2,128]", "drawn from 0 to 30,521, the rows of 'words' that they index"),
        types=("int64[2,128]", "token types: zeros"),
        mask=("int32[2,128]", "a mask of ones"),
        places=("int64[2,4]", "positions from 3 up, at most 5"),
        shape=("int64[2]", "the shape [1, -1]"),
        steps=("int64[]", "8, a small count"),
        image=("float32[1,3,8,8]", "an image: evenly drawn from 0 to 1"),
        half=("float32[2,2]", "drawn from the normal distribution"),
        on=("bool[1]", "True, as its node needs"),
    )
    arrays = drawn(record, image="tensor(float)", half="tensor(float16)")
    assert arrays["ids"].shape == (2, 128)
    assert 1_000 < arrays["ids"].max() <= 30_521
    assert not arrays["types"].any()
    assert arrays["mask"].dtype == np.int32
    assert arrays["mask"].all()
    assert arrays["places"].tolist() == [[3, 4, 5, 5]] * 2
    assert arrays["shape"].tolist() == [1, -1]
    assert arrays["steps"] == 8
    assert 0 <= arrays["image"].min() < arrays["image"].max() <= 1
    assert (arrays["image"].dtype, arrays["half"].dtype) == (np.float32, np.float16), (
        "as the session takes it"
    )
    assert arrays["on"].tolist() == [True]


def test_of_given_inputs_a_script_knows_the_sizes_and_guesses_the_kinds() -> None:
    record = replace(
        described(token_type_ids=("int64[1,7]", "drawn from 5 to 6"), x=("int64[3]", "")),
        made_by="mine.npz (given)",
        guesses=(),
    )
    arrays = drawn(record)
    assert arrays["token_type_ids"].tolist() == [[0] * 7]
    assert arrays["x"].shape == (3,)
    assert "'mine.npz (given)', of which only the sizes are known here" in draw_code(record)


def test_a_plugin_that_no_package_here_has_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(providers=[Provider("Other", library="auto"), "cpu"])
    monkeypatch.setattr("workbench.core.config.script.plugin_packages", lambda _: ())
    assert "register one for ['Other']" in config.to_python("m.onnx")


def test_hostile_inputs_stay_literals() -> None:
    evil = "'\"\"\"\n# \u2028'); import os; os.system('true') #\n"
    record = described(**{evil: ("float32[1]", evil)})
    text = Config().to_python("m.onnx", inputs=replace(record, made_by=f"random{evil}"))
    assert not any(
        isinstance(node, ast.Attribute) and node.attr == "system" for node in ast.walk(ast.parse(text))
    )
    for words in ("007, a small count", "the shape [\u0661]", "positions from 0 up, at most 05"):
        ast.parse(draw_code(described(x=("int64[1]", words), y=("float32[1]", "drawn from \u0661.5 to 02"))))
    for shape in ("float32[-1]", "float32[1,x]", "sequence of 2: float32[1]", "f()[1]", "float32[1]\n"):
        assert "SIZES = " in draw_code(described(x=(shape, "")))


def test_a_script_of_a_path_says_which_sizes_it_takes() -> None:
    text = Config(precision="float16").to_python("net.onnx", sizes={"batch": 2})
    assert "SIZES = {'batch': 2}" in text
    assert "SIZES has no size of the axis" in text
    assert "on {shapes}" in text
