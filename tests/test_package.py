"""The package as a whole: light to import, its public names documented, the house rules kept."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

import workbench
from workbench.features.base.result import Result

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HEAVY = "onnxruntime plotly pandas ipywidgets IPython onnx_ir onnx numpy scipy psutil tqdm huggingface_hub"
MODULES = sorted(
    path for folder in ("workbench", "sample_models", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)
MOST_LINES = 300


def loaded_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {name for name in done.stdout.split() if "." not in name}


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not loaded_after("import workbench") & set(HEAVY.split())


def test_the_command_line_starts_light() -> None:
    assert not loaded_after("import workbench.apps.cli; workbench.apps.cli.parser()") & set(HEAVY.split())


def test_naming_everything_still_does_not_load_onnxruntime() -> None:
    loaded = loaded_after("import workbench as wb; [getattr(wb, name) for name in wb.__all__]")
    assert not loaded & {"onnxruntime", "onnx_ir", "ipywidgets", "plotly"}


NEEDS_MORE = {"model", "models", "cancel", "path", "shell"}  # a process of its own, a file, or IPython


def needs_more(value: Any) -> bool:
    """Return whether an example takes more than a line: a call that measures or reads, and its result."""
    if isinstance(value, type):
        return issubclass(value, Result) or "Made by `" in str(value.__doc__)
    return not NEEDS_MORE.isdisjoint(inspect.signature(value).parameters)


@pytest.mark.real
@pytest.mark.parametrize("name", workbench.__all__)
def test_each_public_name_is_documented_and_its_example_runs(name: str) -> None:
    value = getattr(workbench, name)
    assert inspect.getdoc(value)
    finder = doctest.DocTestFinder(recurse=False)
    examples = [test for test in finder.find(value, name) if test.examples]
    is_error = isinstance(value, type) and issubclass(value, Exception)
    assert examples or is_error or needs_more(value), f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in examples:
        assert runner.run(test).failed == 0
        assert not any(".__name__" in example.source for example in test.examples), "it shows nothing"


def test_the_package_has_an_example_too() -> None:
    assert doctest.testmod(workbench).failed == 0


def test_no_module_takes_the_place_of_a_public_name() -> None:
    modules = {path.stem for path in (ROOT / "workbench").iterdir() if path.suffix in ("", ".py")}
    assert "core" in modules
    assert modules & set(workbench.__all__) == set()


def test_names_are_listed_and_others_refused() -> None:
    assert set(dir(workbench)) == {*workbench.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        workbench.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("system", "processor"),
    [
        ("linux", "x86_64"),
        ("linux", "aarch64"),
        ("win32", "AMD64"),
        ("win32", "ARM64"),
        ("darwin", "arm64"),
        ("darwin", "x86_64"),
    ],
)
def test_exactly_one_build_of_onnxruntime_is_installed(system: str, processor: str) -> None:
    builds = [
        requirement
        for requirement in map(Requirement, PROJECT["dependencies"])
        if requirement.name.startswith("onnxruntime")
    ]
    where = {"sys_platform": system, "platform_machine": processor, "python_version": "3.12"}
    chosen = [build.name for build in builds if build.marker is None or build.marker.evaluate(where)]
    assert len(chosen) == 1
    gpu = [Requirement(text) for text in PROJECT["optional-dependencies"]["gpu"]]
    assert all(build.marker is not None and isinstance(build.marker, Marker) for build in gpu)
    extra = [build.name for build in gpu if build.marker and build.marker.evaluate(where)]
    assert extra in ([], chosen)


def test_every_dependency_is_bounded() -> None:
    for text in PROJECT["dependencies"]:
        operators = {part.operator for part in Requirement(text).specifier}
        assert operators == {">=", "<"}, text


def test_modules_stay_small_and_have_a_purpose() -> None:
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in MODULES}
    assert [path for path, text in texts.items() if len(text.splitlines()) > MOST_LINES] == []
    assert [path for path in texts if path.name == "utils.py"] == []
    nameless = [path for path, text in texts.items() if not text.startswith('"""')]
    assert nameless == [], "say in one sentence what the module is for"
