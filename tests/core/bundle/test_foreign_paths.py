"""Programs, libraries and files that a stranger's bundle names: shown, not looked up, used when trusted."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.factories import records as examples
from workbench.core.bundle.bundle import pack_record, unpack_record
from workbench.core.bundle.trust import with_trust
from workbench.core.config import Config, PreparedModel
from workbench.core.config.catalogue import RUN, SESSION, catalogue
from workbench.core.config.foreign import ForeignPath, check_trusted, quarantined, restored
from workbench.core.config.option import Option
from workbench.core.errors import ConfigError

NAME = "stranger's-choice"
OPENS = [option for option in catalogue().all_options if option.opens is not None and option.instead is None]


def opened(data: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Config, tuple[ForeignPath, ...]]:
    """The config of run B in a bundle whose writer chose the JSON of it."""
    record = examples.comparison("01-abc", replace(examples.run("B"), config=Config(level="all")))
    with monkeypatch.context() as patch:
        to_dict = Config.to_dict
        patch.setattr(Config, "to_dict", lambda self: data if self.level == "all" else to_dict(self))
        blob = pack_record(record, None, private=True)
    bundle = unpack_record(blob)
    return bundle.record.runs[1].config, bundle.foreign


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every path with the stranger's name that something asks the system about."""
    paths: list[str] = []
    for name in ("stat", "lstat", "access", "open", "readlink"):
        original = getattr(os, name)

        def asked(path: Any, *rest: Any, original: Any = original, **named: Any) -> Any:
            if NAME in str(path):
                paths.append(str(path))
            return original(path, *rest, **named)

        monkeypatch.setattr(os, name, asked)
    return paths


@pytest.mark.parametrize("place", ["env/bin/python", f"/opt/{NAME}/bin/python", "../python", "python3.11"])
def test_an_interpreter_is_never_started_nor_looked_up(
    place: str, looked_up: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, foreign = opened({"runtime": place}, monkeypatch)
    assert foreign == (ForeignPath("runtime", place),)
    assert looked_up == []
    with pytest.raises(ConfigError, match="of the machine that recorded it"):
        _ = config.interpreter


def data_with(option: Option) -> dict[str, Any]:
    entries = dict(option.needs[:1]) | {option.name: f"{NAME}/file"}
    if option.owner in (SESSION, RUN):
        return {f"{option.owner}_entries": entries}
    return {"providers": [{"name": option.owner, "options": entries}]}


@pytest.mark.parametrize("option", OPENS, ids=lambda option: f"{option.owner}-{option.name}")
def test_no_option_of_the_catalogue_brings_a_path(
    option: Option, looked_up: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, foreign = opened(data_with(option), monkeypatch)
    assert foreign == (ForeignPath(option.name, f"{NAME}/file"),)
    for use in (config.plan, lambda: config.to_python("model.onnx"), lambda: check_trusted(config)):
        with pytest.raises(ConfigError) as refusal:
            use()
        assert f"opened.trust({option.name!r})" in refusal.value.fix
    assert looked_up == []


def test_an_option_that_nobody_knows_counts_as_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"session_entries": {"session.new_plugin": "evil.so"}, "allow_unknown": True}
    _, foreign = opened(data, monkeypatch)
    assert foreign == (ForeignPath("session.new_plugin", "evil.so"),)
    data = {"providers": [{"name": "Other", "options": {"library": "evil.so"}}], "allow_unknown": True}
    _, foreign = opened(data, monkeypatch)
    assert foreign == (ForeignPath("library", "evil.so"),)


def test_the_name_of_an_option_cannot_forge_lines_of_the_note(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"session_entries": {"a\n\x1b[2Jb": "evil.so"}, "allow_unknown": True}
    config, foreign = opened(data, monkeypatch)
    with pytest.raises(ConfigError) as refusal:
        config.plan()
    for text in (*map(str, foreign), refusal.value.problem, refusal.value.fix):
        assert text.isprintable()


def test_a_prepared_model_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    config, foreign = opened(
        {"precision": {"kind": "prepared_model", "model": "https://evil/x.onnx"}}, monkeypatch
    )
    assert foreign == (ForeignPath("precision.model", "https://evil/x.onnx"),)
    assert config.precision == PreparedModel("…/https://evil/x.onnx")
    for use in (lambda: check_trusted(config), lambda: config.to_python("model.onnx")):
        with pytest.raises(ConfigError, match="no run uses"):
            use()


def test_after_the_users_word_for_each_name_the_paths_are_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = {"session.collect_node_memory_stats_to_file": "/home/ada/.bashrc"}
    data = {
        "session_entries": entries,
        "providers": [
            {"name": "TensorrtExecutionProvider", "options": {"trt_extra_plugin_lib_paths": "a.so"}}
        ],
    }
    config, foreign = opened(data, monkeypatch)
    assert {path.option for path in foreign} == {*entries, "trt_extra_plugin_lib_paths"}
    half = Config.from_dict(restored(config.to_dict(), foreign[:1]))
    with pytest.raises(ConfigError):
        half.plan()
    providers = [("tensorrt", {"trt_extra_plugin_lib_paths": "a.so"})]
    assert Config.from_dict(restored(config.to_dict(), foreign)) == Config(
        session_entries=entries, providers=providers
    )


def test_a_whole_record_is_trusted_and_what_has_no_path_stays_the_same_object() -> None:
    config = Config(session_entries={"session.collect_node_memory_stats_to_file": "…/stats"})
    record = examples.comparison("01-abc", replace(examples.run("B"), config=config))
    trusted = with_trust(record, [ForeignPath("session.collect_node_memory_stats_to_file", "stats")])
    assert trusted.runs[0] is record.runs[0]
    assert trusted.runs[1].config.plan().entries == (("session.collect_node_memory_stats_to_file", "stats"),)


def test_the_history_of_this_machine_keeps_the_users_own_paths() -> None:
    config = Config(session_entries={"session.collect_node_memory_stats_to_file": "stats"})
    record = examples.comparison("01-abc", replace(examples.run("B"), config=config))
    bundle = unpack_record(pack_record(record, None, private=True), own=True)
    assert bundle.record == record
    assert bundle.foreign == ()


def test_data_of_the_wrong_form_is_left_to_the_reader() -> None:
    for data in (
        {"runtime": 1},
        {"precision": 1},
        {"session_entries": [1]},
        {"providers": [{"name": 1, "options": {}}, 3]},
    ):
        assert quarantined(data) == (data, ())


def test_the_paths_of_the_file_stay_unused_in_the_folder_where_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a folder called … beside the notebook."""
    program = tmp_path / "…" / "env" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\ntouch started\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    config, _ = opened({"runtime": "env/bin/python"}, monkeypatch)
    with pytest.raises(ConfigError):
        _ = config.interpreter
