"""The README is short and keeps its promises; the pages on commands and panels list what there is."""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
from pathlib import Path

import pytest

import workbench as wb
from workbench.apps.cli import parser
from workbench.apps.panels.tabs.results import MODES, VIEWS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
HOW_TO = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/how-to/*.md"))]
PANELS = (ROOT / "docs" / "panels.md").read_text(encoding="utf-8")


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def lines(start: str, page: str = README) -> list[str]:
    return [line for block in blocks("bash", page) for line in block.splitlines() if start in line]


@pytest.fixture(scope="module")
def commands() -> argparse.ArgumentParser:
    return parser()


def test_it_is_read_in_a_minute() -> None:
    assert len(README.splitlines()) <= 80
    assert len(README.split()) <= 700


@pytest.mark.real
@pytest.mark.slow
def test_the_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    assert re.search("faster|slower|tie|no difference|unknown", capsys.readouterr().out)
    assert (tmp_path / "digits-conv.ortbench").exists()


@pytest.mark.parametrize("line", [line for page in (COMMANDS, *HOW_TO) for line in lines("workbench ", page)])
def test_the_commands_exist(line: str, commands: argparse.ArgumentParser) -> None:
    assert callable(commands.parse_args(shlex.split(line, comments=True)[1:]).run)


def test_every_command_is_listed(commands: argparse.ArgumentParser) -> None:
    (group,) = (action for action in commands._actions if isinstance(action.choices, dict))
    missing = [name for name in group.choices if f"workbench {name}" not in COMMANDS]
    assert missing == []


def test_every_view_of_the_panels_is_listed() -> None:
    table = PANELS.partition("## The views")[2].partition("## ")[0]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    named = {name.strip() for row in rows for name in row.split(",")}
    assert {*(tab.title for tab in VIEWS), *MODES} <= named


def test_the_calls_of_the_questions_take_a_budget_or_are_named_without_one() -> None:
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    called = {name for text in HOW_TO for name in re.findall(r"wb\.([a-z_]+)\(", text)}
    calls = {name: inspect.signature(getattr(wb, name)) for name in called - {"on"}}
    measuring = {name for name, signature in calls.items() if "keep" in signature.parameters}
    without = {name for name in measuring if "budget_s" not in calls[name].parameters}
    sentence = page.partition("budget_s=`")[2].partition(".\n")[0].partition(": the seconds")[0]
    assert len(measuring) > 5
    assert without == set(re.findall(r"`wb\.([a-z_]+)`", sentence))


def test_ci_runs_what_the_readme_says() -> None:
    (command,) = lines("pytest")
    install, _, test = command.rpartition(" && ")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    as_there = install.replace(".venv", '"$outside/pip"', 1).replace(
        ".venv/bin/pip install", '"$outside/pip/bin/pip" install -q'
    )
    assert any(as_there in line for line in script)
    assert test in script
    assert any(line.startswith(f'{test} -m "slow') for line in script)


def test_its_links_lead_somewhere() -> None:
    pages = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    links = [
        (page.name, page.parent / target)
        for page in pages
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text("utf-8"))
    ]
    assert len(links) > 50
    assert [(name, target) for name, target in links if not target.exists()] == []


def test_contributing_names_files_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:workbench|sample_models|benchmarks)/[^`]*|CHANGELOG.md|\.ci/run)`", text)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_commands_that_agents_are_told_of_exist(commands: argparse.ArgumentParser) -> None:
    page = (ROOT / "SKILL.md").read_text(encoding="utf-8")
    told = re.findall(r"`workbench ([a-z-]+) ", page)
    (group,) = (action for action in commands._actions if isinstance(action.choices, dict))
    assert len(told) > 7
    assert set(told) <= set(group.choices)
