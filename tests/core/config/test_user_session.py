"""A session of the user's own code becomes a config, and its script sets the same things."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnxruntime as ort
import pytest

import workbench as wb
from tests.core.models import tiny
from workbench.core.config.plan import ATTRIBUTES

pytestmark = pytest.mark.real
SetUp = Callable[[ort.SessionOptions], None]


def attributes(**values: Any) -> SetUp:
    def set_up(options: ort.SessionOptions) -> None:
        for name, value in values.items():
            setattr(options, name, value)

    return set_up


def entries(**values: str) -> SetUp:
    def set_up(options: ort.SessionOptions) -> None:
        for name, value in values.items():
            options.add_session_config_entry(f"session.{name.replace('__', '.')}", value)

    return set_up


def both(first: SetUp, second: SetUp) -> SetUp:
    def set_up(options: ort.SessionOptions) -> None:
        first(options)
        second(options)

    return set_up


OPTIMIZED, MODE = ort.GraphOptimizationLevel, ort.ExecutionMode
SNIPPETS: dict[str, tuple[SetUp, wb.Config]] = {  # as people set up their sessions
    "nothing": (attributes(), wb.Config()),
    "all that is on anyway": (attributes(graph_optimization_level=OPTIMIZED.ORT_ENABLE_ALL), wb.Config()),
    "basic": (attributes(graph_optimization_level=OPTIMIZED.ORT_ENABLE_BASIC), wb.Config(level="basic")),
    "extended, 4 threads": (
        attributes(graph_optimization_level=OPTIMIZED.ORT_ENABLE_EXTENDED, intra_op_num_threads=4),
        wb.Config(level="extended", intra_op_threads=4),
    ),
    "off": (attributes(graph_optimization_level=OPTIMIZED.ORT_DISABLE_ALL), wb.Config(level="disabled")),
    "parallel": (
        attributes(execution_mode=MODE.ORT_PARALLEL, inter_op_num_threads=2),
        wb.Config(execution_mode="parallel", inter_op_threads=2),
    ),
    "one thread, sequential": (
        attributes(execution_mode=MODE.ORT_SEQUENTIAL, intra_op_num_threads=1, inter_op_num_threads=1),
        wb.Config(intra_op_threads=1, inter_op_threads=1),
    ),
    "no arena, no pattern": (
        attributes(enable_cpu_mem_arena=False, enable_mem_pattern=False),
        wb.Config(cpu_arena=False, memory_pattern=False),
    ),
    "no reuse, deterministic": (
        attributes(enable_mem_reuse=False, use_deterministic_compute=True),
        wb.Config(memory_reuse=False, deterministic=True),
    ),
    "threads do not spin": (
        entries(intra_op__allow_spinning="0", inter_op__allow_spinning="0"),
        wb.Config(spinning=False),
    ),
    "one pool does not spin": (
        entries(intra_op__allow_spinning="0"),
        wb.Config(session_entries={"session.intra_op.allow_spinning": "0"}),
    ),
    "pinned": (
        both(entries(intra_op_thread_affinities="1"), attributes(intra_op_num_threads=2)),
        wb.Config(affinity="1", intra_op_threads=2),
    ),
    "denormals are zero": (
        entries(set_denormal_as_zero="1"),
        wb.Config(session_entries={"session.set_denormal_as_zero": "1"}),
    ),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tiny.mlp(), tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize(("set_up", "config"), SNIPPETS.values(), ids=SNIPPETS)
def test_a_session_becomes_a_config_and_its_script_sets_the_same(
    set_up: SetUp, config: wb.Config, model: Path
) -> None:
    options = ort.SessionOptions()
    set_up(options)
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    assert wb.Config.from_session(session) == config
    assert wb.Config.from_session(options, ["CPUExecutionProvider"]) == config
    names: dict[str, Any] = {}
    exec(config.to_python(model), names)
    for name in ATTRIBUTES:
        assert getattr(names["session"].get_session_options(), name) == getattr(options, name)
    assert wb.Config.from_session(names["session"]) == config


def test_providers_keep_what_was_set_and_unknown_ones_stay() -> None:
    options = ort.SessionOptions()
    cuda = ("CUDAExecutionProvider", {"device_id": 1, "arena_extend_strategy": "kNextPowerOfTwo"})
    config = wb.Config.from_session(options, [cuda, "CPUExecutionProvider"])
    assert config == wb.Config(providers=[wb.Provider("cuda", device_id=1), "cpu"])
    other = wb.Config.from_session(options, [("MyExecutionProvider", {"fast": True})])
    assert other.providers[0].options == (("fast", "True"),)
    assert other.allow_unknown


def test_a_live_session_is_compared_and_its_model_opened(model: Path) -> None:
    options = ort.SessionOptions()
    options.graph_optimization_level = OPTIMIZED.ORT_DISABLE_ALL
    for source in (str(model), model.read_bytes()):
        session = ort.InferenceSession(source, options)
        assert wb.load(session).fingerprint() == wb.load(model).fingerprint()
        result = wb.compare(session, wb.Config(), budget_s=0.2, progress=False, keep=False)
        assert [run.config.level for run in result.runs] == ["disabled", None]
        assert all(run.failure is None for run in result.runs)


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(wb.WorkbenchError, match="no session and no options"):
        wb.Config.from_session("model.onnx")
