"""The catalogue, the passes and the rules, held against the installed onnxruntime."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from tests.core.config.ort_models import answer, python, write_model
from workbench.core.config import Config, catalogue, shipped_passes
from workbench.core.config.catalogue import ORT_VERSION
from workbench.core.config.plan import LEVELS, MODES, SPINNING

pytestmark = pytest.mark.real

START = """
import json, os, re, sys, tempfile, warnings
import onnxruntime as ort
model = sys.argv[1]
ort.set_default_logger_severity(4)
def options(entries={}, level=None):
    made = ort.SessionOptions()
    made.log_severity_level = 4
    for key, text in entries.items():
        made.add_session_config_entry(key, text)
    if level is not None:
        made.graph_optimization_level = level
    return made
def outcome(entries, **attributes):
    made = options(entries)
    for name, value in attributes.items():
        setattr(made, name, value)
    try:
        ort.InferenceSession(model, made, providers=["CPUExecutionProvider"])
    except Exception as error:
        return "error: " + str(error)
    return "accepted"
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_model(tmp_path_factory.mktemp("ort") / "model.onnx"))


@pytest.fixture(scope="module")
def ort_facts(model: str) -> dict[str, Any]:
    """What the installed ORT offers."""
    facts: dict[str, Any] = answer(
        START
        + """
print(json.dumps({
    "version": ort.__version__,
    "attributes": {name: type(getattr(ort.SessionOptions(), name)).__name__
                   for name in dir(ort.SessionOptions) if not name.startswith("_")},
    "levels": {name: int(value) for name, value in ort.GraphOptimizationLevel.__members__.items()},
    "modes": list(ort.ExecutionMode.__members__),
    "providers": ort.get_all_providers(),
}))
""",
        model,
    )
    return facts


def test_the_catalogue_was_checked_against_this_ort(ort_facts: dict[str, Any]) -> None:
    assert ort_facts["version"] == ORT_VERSION


def test_levels_and_modes_are_members_of_ort_s_enums(ort_facts: dict[str, Any]) -> None:
    assert ort_facts["levels"] == {
        "ORT_DISABLE_ALL": 0,
        "ORT_ENABLE_BASIC": 1,
        "ORT_ENABLE_EXTENDED": 2,
        "ORT_ENABLE_LAYOUT": 3,
        "ORT_ENABLE_ALL": 99,
    }
    assert set(LEVELS.values()) == set(ort_facts["levels"])
    assert set(MODES.values()) == set(ort_facts["modes"])


def test_every_attribute_of_a_plan_exists_and_has_its_type(ort_facts: dict[str, Any]) -> None:
    everything = Config(
        level="all",
        execution_mode="parallel",
        intra_op_threads=1,
        inter_op_threads=1,
        memory_pattern=True,
        memory_reuse=True,
        cpu_arena=True,
        deterministic=True,
    )
    for name, value in everything.plan().attributes:
        wanted = value.partition(".")[0] if isinstance(value, str) else type(value).__name__
        assert ort_facts["attributes"][name] == wanted


def test_every_provider_of_the_catalogue_is_one_that_ort_knows(ort_facts: dict[str, Any]) -> None:
    assert {card.name for card in catalogue().providers} <= set(ort_facts["providers"])
    assert "ROCMExecutionProvider" not in ort_facts["providers"]


BAD_VALUES = {  # key: (a bad value, part of ORT's complaint; None: it takes it without a word)
    "session.dynamic_block_base": ("x", "stoi"),
    "session.gqa_value_layout": ("bogus", "BNSH"),
    "session.function_expansion_node_limit": ("0", "positive integer"),
    "session.graph_optimizations_loop_level": ("x", "stoi"),
    "session.layer_assignment_settings": ("bogus", "Missing"),
    "session.enable_moe_expert_counting": ("2", '"0" or "1"'),
    "session.moe_expert_counter_alpha": ("0.5", "requires expert counting"),
    "session.qdq_matmulnbits_accuracy_level": ("x", "Parse"),
    "session.disable_cpu_ep_fallback": ("1", "Conflicting session configuration"),
    "session.intra_op_thread_affinities": ("0;1", "start from 1"),
    "ep.cuda.gqa_workspace_max_total_sequence_length": ("-1", "nonnegative"),
    "session.use_env_allocators": ("maybe", None),
    "session.load_model_format": ("onnx", None),
    "session.set_denormal_as_zero": ("maybe", None),
    "no.such.key": ("1", None),
    "session.enable_profiling": ("1", None),
}


def test_what_ort_says_to_bad_values(model: str) -> None:
    answers = answer(
        START
        + """
asked = json.loads(sys.argv[2])
print(json.dumps({key: outcome({key: text}, intra_op_num_threads=3) for key, text in asked.items()}))
""",
        model,
        json.dumps({key: text for key, (text, _) in BAD_VALUES.items()}),
    )
    for key, (_, complaint) in BAD_VALUES.items():
        assert (complaint or "accepted").casefold() in answers[key].casefold(), (key, answers[key])


@pytest.mark.parametrize("key", [option.name for option in catalogue().search("kills the process")])
def test_some_values_kill_the_process_and_digits_do_not(key: str, model: str) -> None:
    code = START + "print(json.dumps(outcome({sys.argv[2]: sys.argv[3]})))"
    assert python(code, model, key, "lots").returncode == -signal.SIGABRT
    assert answer(code, model, key, "0") == "accepted"


def test_affinity_needs_one_list_for_each_extra_thread(model: str) -> None:
    key = "session.intra_op_thread_affinities"
    answers = answer(
        START
        + f"""
texts = ["1;1", "1", "1;1;1", "2-1;1", "1; 1"]
print(json.dumps([outcome({{"{key}": text}}, intra_op_num_threads=3) for text in texts]))
""",
        model,
    )
    assert [text.partition(":")[0] for text in answers] == ["accepted", "error", "error", "error", "error"]


def test_names_that_look_like_entries_do_nothing(model: str) -> None:
    """They stand in the binaries, so a user may find them: the Identity goes although the level says no."""
    kept = answer(
        START
        + """
made = options({"session.graph_optimization_level": "0"})
with tempfile.TemporaryDirectory() as folder:
    made.optimized_model_filepath = os.path.join(folder, "saved.onnx")
    ort.InferenceSession(model, made, providers=["CPUExecutionProvider"])
    saved = open(made.optimized_model_filepath, "rb").read()
print(json.dumps(b"Identity" in saved))
""",
        model,
    )
    assert kept is False


PASSES = (
    START
    + """
asked = json.loads(sys.argv[2])
kept = os.dup(2)
def registered(disabled, entries):
    # the transformers that ORT's verbose log names, read from a file in the place of stderr
    made = options(entries)
    made.log_severity_level = 0
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            cpu = ["CPUExecutionProvider"]
            ort.InferenceSession(model, made, providers=cpu, disabled_optimizers=disabled)
        finally:
            os.dup2(kept, 2)
        log.seek(0)
        return sorted(set(re.findall(rb"Applying graph transformer (\\w+)", log.read())))
print(json.dumps([[name.decode() for name in registered(disabled, entries)] for disabled, entries in asked]))
"""
)


def registered(model: str, asked: list[tuple[list[str], dict[str, str]]]) -> list[list[str]]:
    """For each (disabled passes, entries): the transformers that the session registered."""
    registered_passes: list[list[str]] = answer(PASSES, model, json.dumps(asked))
    return registered_passes


def test_the_shipped_transformers_are_those_that_register(model: str) -> None:
    passes = shipped_passes().passes
    entries = {
        graph_pass.asked_for_by.removesuffix("=1"): "1" for graph_pass in passes if graph_pass.asked_for_by
    }
    transformers = {graph_pass.name for graph_pass in passes if graph_pass.part_of is None}
    (registered_passes,) = registered(model, [([], entries)])
    assert set(registered_passes) == transformers
    (registered_passes,) = registered(model, [([], {})])
    assert set(registered_passes) == {
        graph_pass.name for graph_pass in passes if graph_pass.part_of is None and not graph_pass.asked_for_by
    }


def test_disabling_by_name_works_and_an_unknown_name_is_ignored_silently(model: str) -> None:
    names = [
        graph_pass.name
        for graph_pass in shipped_passes().passes
        if graph_pass.part_of is None and not graph_pass.asked_for_by
    ]
    registered_passes = registered(model, [*(([name], {}) for name in names), (["NoSuchPass"], {})])
    for name, rest in zip(names, registered_passes, strict=False):
        assert set(rest) == set(names) - {name}
    assert set(registered_passes[-1]) == set(names)


def test_the_shipped_rules_are_all_there_are(model: str) -> None:
    """A transformer of rules registers while any rule is left: that tells which names are rules."""
    rules: dict[str, list[str]] = {}
    for graph_pass in shipped_passes().passes:
        if graph_pass.part_of is not None:
            rules.setdefault(graph_pass.part_of, []).append(graph_pass.name)
    entries = {"optimization.enable_cast_chain_elimination": "1"}
    for transformer, names in rules.items():
        asked = [(names, entries), *(([n for n in names if n != left], entries) for left in names)]
        registered_passes = registered(model, asked)
        assert transformer not in registered_passes[0]
        for left, rest in zip(names, registered_passes[1:], strict=True):
            assert transformer in rest, left


def test_both_spinning_keys_are_taken_as_entries(model: str) -> None:
    answers = answer(
        START
        + f"print(json.dumps([outcome({{key: '0'}}, intra_op_num_threads=2) for key in {list(SPINNING)!r}]))",
        model,
    )
    assert answers == ["accepted", "accepted"]


def test_every_session_entry_that_stands_alone_is_taken_with_its_default(model: str) -> None:
    """What the catalogue calls a default must not be refused by the installed ORT."""
    defaults = {
        option.name: option.default
        for option in catalogue().options("session")
        if option.default and option.in_this_ort and not option.instead and not option.needs
    }
    answers = answer(
        START + "print(json.dumps({k: outcome({k: t}) for k, t in json.loads(sys.argv[2]).items()}))",
        model,
        json.dumps(defaults),
    )
    assert {key: text for key, text in answers.items() if text != "accepted"} == {}
