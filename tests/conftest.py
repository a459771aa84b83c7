"""Every test gets a home of its own, needs a real browser or is left out, and leaves no worker behind."""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
from collections.abc import Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any

import hypothesis
import psutil
import pytest

from tests.amount import amount
from tests.executed import executed as executed  # a fixture
from workbench.core.cpu import usable_cores
from workbench.core.home import cache_folder
from workbench.core.worker.forking import ForkServer
from workbench.core.worker.launch import Worker

# Each process of the tests would compile all modules anew: a third of the quick tests' time.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

hypothesis.settings.register_profile(
    "workbench",
    deadline=None,
    max_examples=amount(100),  # a busy machine is no counterexample
)
hypothesis.settings.load_profile("workbench")

MOST_PROCESSES = 8  # each imports everything
CONJUNCTION = re.compile(r"(?:not )?\w+(?: and (?:not )?\w+)*")
WHOLE = re.compile(r"^pytestmark = (.*)", re.MULTILINE)
OTHER_ENVIRONMENTS = {"openvino", "genai_python", "old_ort"}  # fixtures
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """The system's own Chromium; a download of another would be needed otherwise."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def pytest_report_header() -> str:
    browser = find_browser()
    return f"browser: {browser}" if browser else "browser: no Chromium found, so its tests are left out"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Leave out what is slow where ONNX Runtime and browser are left out; a whole run uses all cores.

    No test asserts a time. `-n0`: one core.
    """
    option = config.option
    terms = {*option.markexpr.split(" and ")}
    if {"not real", "not browser"} <= terms and "slow" not in option.markexpr:
        option.markexpr += " and not slow"
    if "not slow" not in option.markexpr:
        return
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not option.collectonly
    is_worker_of_xdist = hasattr(config, "workerinput")
    if is_whole and not is_worker_of_xdist and not option.usepdb and option.numprocesses is None:
        option.numprocesses, option.dist = min(usable_cores(), MOST_PROCESSES), "loadfile"
        option.loadscopereorder = (
            False  # files of few tests would come last, and those of the browser take long
        )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module that `-m` leaves out as a whole, and no conftest of a folder with no others."""
    expression = config.option.markexpr
    if config.option.collectonly or not CONJUNCTION.fullmatch(expression):
        return None
    if collection_path.is_dir():
        modules = [*collection_path.rglob("test_*.py")]
    else:
        modules = [collection_path] if collection_path.suffix == ".py" else []
    return True if modules and all(is_left_out(module, expression) for module in modules) else None


@cache
def is_left_out(module: Path, expression: str) -> bool:
    """Return whether the marks in the `pytestmark` of a module are among those that `-m` leaves out."""
    left_out = {term.removeprefix("not ") for term in expression.split(" and ") if term.startswith("not ")}
    found = WHOLE.search(module.read_text(encoding="utf-8"))
    marks = re.findall(r"mark\.(\w+)", found[1]) if found else []
    return not left_out.isdisjoint([*marks, *(["slow"] if "release" in marks else [])])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the property tests, and as slow what needs another environment or is for releases.

    Leave out browser tests where there is no browser; in CI they fail instead. The longest file comes first:
    at the end one process would run it while the others wait.
    """
    items.sort(key=lambda item: not item.nodeid.startswith("tests/notebooks/"))
    for item in items:
        needs_another = not OTHER_ENVIRONMENTS.isdisjoint(getattr(item, "fixturenames", ()))
        if needs_another or item.get_closest_marker("release"):
            item.add_marker("slow")
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("thorough")
    if find_browser() or os.environ.get("CI"):
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Histories and caches of the tests never meet the user's.

    Versions of ONNX Runtime by number are kept in the folder of WORKBENCH_VERSIONS, where it is set.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        if kept := os.environ.get("WORKBENCH_VERSIONS"):
            Path(kept).mkdir(parents=True, exist_ok=True)
            (cache_folder() / "versions").symlink_to(Path(kept).absolute(), target_is_directory=True)
        yield


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    """Let no write wait for the disk: that is for a power cut, and what a killed process wrote is there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr("workbench.core.bundle.database.SYNCHRONOUS", "OFF")
        yield


def interpreter(variable: str, holds: str) -> str:
    """Return the interpreter that this variable names; without one skip the test, in CI fail it."""
    python = os.environ.get(variable)
    if not python and os.environ.get("CI"):
        pytest.fail(f"{variable} is not set: .ci/run makes that environment")
    if not python:
        pytest.skip(f"{variable} names no interpreter with {holds} (see CONTRIBUTING.md)")
    return python


@pytest.fixture(scope="session")
def openvino() -> str:
    """The interpreter of an environment with onnxruntime-openvino: a second provider without a GPU."""
    return interpreter("WORKBENCH_OPENVINO_PYTHON", "onnxruntime-openvino")


@pytest.fixture(scope="session")
def genai_python() -> str:
    """The interpreter of an environment with ONNX Runtime GenAI."""
    return interpreter("WORKBENCH_GENAI_PYTHON", "onnxruntime-genai")


@pytest.fixture(scope="session")
def old_ort() -> str:
    """The interpreter of an environment with ONNX Runtime 1.16 to 1.22."""
    return interpreter("WORKBENCH_OLD_ORT_PYTHON", "ONNX Runtime 1.16 to 1.22")


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty history and cache, for a test that counts what is in them."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "own-home"))
    return tmp_path / "own-home"


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw pictures of the same size without smoothing, which is quicker, for who looks at no pixel."""
    monkeypatch.setattr("workbench.drawing.raster.FINER", 1)


@pytest.fixture
def without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make pages of kilobytes: writing and reading plotly.js takes longer than all that is ours."""
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "/* plotly.js */")


@pytest.fixture(autouse=True)
def guesses_are_tried_in_real_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer guessed inputs as they are drawn in a test that starts no ONNX Runtime."""
    if not any(map(request.node.get_closest_marker, ("real", "browser"))):
        offer = "workbench.core.measure.finding_inputs.tried_inputs"
        monkeypatch.setattr(offer, lambda _model, drawn, _given: drawn)


class OrtGuard:
    """Fail a test without the mark `real` that starts ONNX Runtime, be it in a fixture of its module."""

    item: pytest.Item | None = None

    def watch(self, owner: Any) -> None:
        """Check the mark whenever an object of this class is made."""
        make = owner.__init__

        @wraps(make)
        def checked(*args: Any, **options: Any) -> None:
            item = self.item
            if item is not None and not any(map(item.get_closest_marker, ("real", "browser"))):
                pytest.fail("this test starts ONNX Runtime: mark it `real`")
            make(*args, **options)

        owner.__init__ = checked


GUARD = OrtGuard()


def pytest_configure() -> None:
    gc.disable()  # nothing that is imported or collected is garbage
    GUARD.watch(Worker)
    GUARD.watch(ForkServer)


def pytest_collection_finish() -> None:
    gc.freeze()  # what is imported and collected lives as long as the run
    gc.enable()
    gc.set_threshold(20_000)
    if "onnxruntime" in sys.modules:
        GUARD.watch(sys.modules["onnxruntime"].InferenceSession)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    GUARD.item = item


@pytest.fixture(scope="session", autouse=True)
def no_worker_left() -> Iterator[None]:
    """Whatever happens in a test, no worker process outlives the run."""
    yield
    left = [process for process in psutil.Process().children(recursive=True) if is_worker(process)]
    for process in left:
        process.kill()
    assert not left, f"worker processes were left running: {left}"


WORKERS = ("workbench.core.worker.child", "workbench.core.worker.fork_server")


def is_worker(process: psutil.Process) -> bool:
    try:
        return any(module in part for part in process.cmdline() for module in WORKERS)
    except psutil.Error:  # it ended while we asked
        return False
