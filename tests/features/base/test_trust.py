"""A result from elsewhere whose configs name files says so, and runs them after the user's word for each."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.core.models import tiny
from tests.factories.comparisons import comparison, drawn_run
from workbench.core.config.foreign import ForeignPath
from workbench.core.errors import ConfigError, PrepareError

STATS = "session.collect_node_memory_stats_to_file"


def stranger(folder: Path, config: wb.Config) -> Path:
    """A bundle whose run B has this config."""
    run = replace(drawn_run("B", 0.001), config=config)
    return wb.Comparison(comparison(drawn_run("A", 0.002), run)).save(folder / "theirs.ortbench")


def test_it_is_said_when_it_is_opened_and_below_its_cell(tmp_path: Path) -> None:
    path = stranger(tmp_path, wb.Config(session_entries={STATS: "notes.txt"}))
    with pytest.warns(UserWarning, match="names paths that no run uses"):
        opened = wb.open(path)
    text = opened._repr_mimebundle_()[0]["text/plain"]
    assert f"{STATS} = 'notes.txt': opened.trust('{STATS}')" in text


@pytest.mark.filterwarnings("ignore:This file names paths")
def test_the_users_word_names_what_is_trusted(tmp_path: Path) -> None:
    opened = wb.open(stranger(tmp_path, wb.Config(session_entries={STATS: "notes.txt"})))
    for names in ((), ("runtime",)):
        with pytest.raises(ConfigError, match="left out") as refusal:
            opened.trust(*names)
        assert STATS in refusal.value.fix
    with pytest.raises(ConfigError):
        opened.runs[1].config.plan()
    assert opened.trust(STATS) is opened
    assert dict(opened.runs[1].config.plan().entries) == {STATS: "notes.txt"}
    assert opened.foreign_paths == ()


@pytest.mark.filterwarnings("ignore:This file names paths")
def test_a_value_that_cannot_be_used_stays_untrusted(tmp_path: Path) -> None:
    config = wb.Config(providers=[wb.Provider("openvino", load_config="…/no json"), "cpu"])
    opened = wb.open(stranger(tmp_path, config))
    opened.foreign_paths = (ForeignPath("load_config", "no json"),)
    with pytest.raises(ConfigError, match="load_config"):
        opened.trust("load_config")
    assert opened.foreign_paths != ()


@pytest.mark.real
@pytest.mark.filterwarnings("ignore:This file names paths")
def test_comparing_with_an_opened_config_starts_no_program_of_the_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "env" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\ntouch {tmp_path}/started\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    path = stranger(tmp_path, wb.Config())
    monkeypatch.setattr(wb.Config, "to_dict", with_runtime(wb.Config.to_dict, "env/bin/python"))
    path = stranger(tmp_path, wb.Config(level="all"))
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    opened, model = wb.open(path), tiny.save(tiny.mlp(), tmp_path)
    with pytest.raises(wb.WorkbenchError, match="of the machine that recorded it"):
        wb.compare(model, wb.Config(), opened.runs[1].config, budget_s=0.1, progress=False)
    assert not (tmp_path / "started").exists()
    opened.trust("runtime")
    wb.profile(model, opened.runs[1].config)
    assert (tmp_path / "started").exists()


def with_runtime(to_dict: Any, runtime: str) -> Any:
    """A `to_dict` that writes another interpreter into every config with a level."""
    return lambda config: to_dict(config) | ({"runtime": runtime} if config.level else {})


def test_node_names_that_are_no_text_of_one_line_are_not_written(tmp_path: Path) -> None:
    proto = tiny.mlp()
    proto.graph.node[0].name = "a\ntouch started\n"
    model = tiny.save(proto, tmp_path)
    with pytest.raises(PrepareError, match="node name") as refusal:
        wb.prepare(model, wb.Config(session_entries={STATS: "notes.txt"}))
    assert "\n" not in refusal.value.problem
    assert wb.prepare(model, wb.Config()).steps == ()
