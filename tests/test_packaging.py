"""What a stranger installs from: each file agrees with pyproject.toml and asks for no more than it needs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DEPENDENCIES = {Requirement(text).name: Requirement(text) for text in PROJECT["dependencies"]}
TRIED = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)]
GOLDEN = ROOT / "tests" / "core" / "bundle" / "golden"
HOSTS = r"pypi\.org|pythonhosted|docker\.io|ghcr\.io|mcr\.|quay\.io|://"
MOST_MB = 200  # of the light reader


def text_of(*parts: str) -> str:
    return ROOT.joinpath(*parts).read_text("utf-8")


def release() -> dict[str, Any]:
    workflow: dict[str, Any] = yaml.safe_load(text_of(".github", "workflows", "release.yml"))
    return workflow


def instructions(*parts: str) -> list[tuple[str, str]]:
    lines = text_of(*parts).replace("\\\n", " ").splitlines()
    said = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in said]


def test_a_release_starts_with_a_tag_and_nothing_else() -> None:
    assert release()[True] == {"push": {"tags": ["v*"]}}, "YAML reads the key `on` as true"


def test_a_release_is_built_checked_attested_and_published_in_this_order() -> None:
    jobs = release()["jobs"]
    assert list(jobs) == ["build", "attest", "publish"]
    assert [job.get("needs") for job in jobs.values()] == [None, "build", "attest"]
    runs = " ".join(step.get("run", "") for step in jobs["build"]["steps"])
    assert "python -m build" in runs
    assert ".ci/check_wheel.py --tag" in runs


def test_each_job_may_do_only_what_it_is_for() -> None:
    assert release()["permissions"] == {}
    assert {name: job["permissions"] for name, job in release()["jobs"].items()} == {
        "build": {"contents": "read"},
        "attest": {"attestations": "write", "id-token": "write"},
        "publish": {"id-token": "write"},
    }
    assert "secrets." not in text_of(".github", "workflows", "release.yml")


def test_actions_are_named_with_their_version() -> None:
    uses = [step["uses"] for job in release()["jobs"].values() for step in job["steps"] if "uses" in step]
    assert len(uses) == 7
    assert [name for name in uses if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", name)] == []
    images = {job["runs-on"] for job in release()["jobs"].values()}
    assert images == {"ubuntu-24.04"}


@pytest.mark.parametrize(
    "file",
    [
        ".github/workflows/release.yml",
        ".devcontainer/Dockerfile",
        ".devcontainer/devcontainer.json",
        "binder/requirements.txt",
        "CITATION.cff",
        "Dockerfile",
        "environment.yml",
        "requirements-view.txt",
    ],
)
def test_no_file_names_the_host_of_a_registry(file: str) -> None:
    assert not re.search(HOSTS, text_of(file))


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=str)
def test_every_issue_template_asks_for_a_bundle(path: Path) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))
    assert {"name", "description", "body"} <= set(form)
    kinds = {field["type"] for field in form["body"]}
    assert kinds <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    fields = {field.get("id"): field["attributes"] for field in form["body"] if field["type"] != "markdown"}
    assert all("label" in attributes for attributes in fields.values())
    assert "bundle" in fields
    assert ".ortbench" in path.read_text("utf-8") or "result.save" in fields["bundle"]["description"]


def test_no_issue_is_opened_without_a_template() -> None:
    assert yaml.safe_load(text_of(".github", "ISSUE_TEMPLATE", "config.yml")) == {
        "blank_issues_enabled": False
    }


@pytest.mark.parametrize("file", ["Dockerfile", ".devcontainer/Dockerfile"])
def test_an_image_is_pinned_and_runs_as_nobody_special(file: str) -> None:
    said = instructions(file)
    assert {name for name, _ in said} <= {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "EXPOSE", "CMD"}
    base = next(value for name, value in said if name == "FROM")
    version = re.fullmatch(r"python:(\d+\.\d+)\.\d+(-slim)?-\w+", base)
    assert version is not None, f"{base} may become another image"
    assert version[1] in TRIED
    assert [value for name, value in said if name == "USER"] == ["reader"]
    user = next(number for number, (name, _) in enumerate(said) if name == "USER")
    assert all("pip" not in value for _, value in said[:user]), "installed as root"


def test_the_image_starts_what_the_readme_starts() -> None:
    said = dict(instructions("Dockerfile"))
    command = json.loads(said["CMD"])
    assert command[:2] == ["workbench", "lab"]
    assert f"{' '.join(command[:2])}\n" in text_of("README.md")
    assert command[command.index("--port") + 1] == said["EXPOSE"]
    assert "-p 127.0.0.1:8888:8888" in text_of("Dockerfile"), "the example shows the server to one machine"
    from workbench.apps.cli import parser

    assert callable(parser().parse_args(command[1:]).run)


def test_the_devcontainer_is_made_of_its_dockerfile_for_its_user() -> None:
    container = json.loads(text_of(".devcontainer", "devcontainer.json"))
    assert set(container) == {
        "name",
        "build",
        "remoteUser",
        "postCreateCommand",
        "forwardPorts",
        "customizations",
    }
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()
    assert ("USER", container["remoteUser"]) in instructions(".devcontainer", "Dockerfile")
    assert container["postCreateCommand"] in text_of("CONTRIBUTING.md")


def test_conda_and_binder_install_what_users_install() -> None:
    made = yaml.safe_load(text_of("environment.yml"))
    python, pip, packages = made["dependencies"]
    assert pip == "pip"
    assert packages == {"pip": ["."]}
    allowed = SpecifierSet(python.removeprefix("python"))
    assert [version for version in ("3.10", "3.11", "3.12", "3.13", "3.14") if version in allowed] == TRIED
    assert instructions("binder", "requirements.txt") == [(".", "")]
    assert text_of("binder", "runtime.txt").strip().removeprefix("python-") == TRIED[-1]


def test_the_documents_name_the_pythons_of_the_classifiers() -> None:
    assert TRIED == ["3.11", "3.12", "3.13"]
    assert "Python 3.11, 3.12 or 3.13" in text_of("README.md")
    assert "3.14" not in text_of("README.md")


def test_the_reader_installs_part_of_what_everybody_installs() -> None:
    lines = [line for line in text_of("requirements-view.txt").splitlines() if not line.startswith("#")]
    asked = {Requirement(line).name: Requirement(line) for line in lines}
    assert not {name for name in asked if name.startswith(("onnxruntime", "jupyter", "ipy", "notebook"))}
    own = {name: asked.pop(name) for name in ("traitlets",)}  # comes with ipywidgets otherwise
    assert all(item.specifier for item in own.values())
    assert {name: str(item.specifier) for name, item in asked.items()} == {
        name: str(DEPENDENCIES[name].specifier) for name in asked
    }


READS = """
import sys
from pathlib import Path
import workbench as wb

for path in sorted(Path(sys.argv[1]).glob("*.ortbench")):
    result = wb.open(path)
    assert str(result)
    result.figure()
    result.to_frame()
    assert result.still().to_png().startswith(b"\\x89PNG")
    assert result.export_html(Path(sys.argv[2], "page.html")).stat().st_size > 10_000
    print(path.name)
"""

MEASURES = """
import workbench as wb

calls = {
    "onnx": lambda: wb.compare("digits-conv", wb.Config(level="disabled"), wb.Config()),
    "onnx ": wb.peaks,
    "pynvml": wb.doctor,
    "ipywidgets": lambda: wb.Workbench().panels,
}
for package, call in calls.items():
    try:
        call()
    except wb.WorkbenchError as error:
        assert error.problem.startswith(f"{package.strip()} is not installed"), error
        assert "pip install ort-workbench" in error.fix
    else:
        raise AssertionError(f"{package} is here")
"""
HIDES = """
import importlib.machinery, sys

class Hidden(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)

HIDDEN = {"anywidget", "google", "ipywidgets", "ml_dtypes", "onnx", "onnxruntime", "pynvml"}
finder = sys.meta_path.index(importlib.machinery.PathFinder)
sys.meta_path[finder] = Hidden
"""


@pytest.mark.real
def test_results_are_read_without_the_packages_that_measure(tmp_path: Path) -> None:
    """Two results: the reader below opens every kind."""
    for kind in ("comparison", "levels"):
        shutil.copy(next(GOLDEN.glob(f"{kind}-*.ortbench")), tmp_path)
    command = [sys.executable, "-c", HIDES + READS + MEASURES, tmp_path, tmp_path]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert len(told.stdout.split()) == 2


@pytest.mark.slow
def test_the_reader_opens_prints_draws_and_exports_every_kind(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", tmp_path, ROOT], check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "view"], check=True)
    python = tmp_path / "view" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile"]
    subprocess.run([*install, "-r", ROOT / "requirements-view.txt"], check=True)
    subprocess.run([*install, "--no-deps", wheel], check=True)
    files = [path for path in (tmp_path / "view").rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) / 1e6 < MOST_MB
    light = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    told = subprocess.run(
        [python, "-c", READS + MEASURES, GOLDEN, tmp_path],
        capture_output=True, text=True, cwd=tmp_path, env=light,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert told.stdout.split() == sorted(path.name for path in GOLDEN.glob("*.ortbench"))
