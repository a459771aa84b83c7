"""`workbench run`: a script in its own process, whose sessions are measured beside ORT's defaults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.models import tiny
from workbench.apps.cli import main

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("own_home")]
SCRIPT = """
import sys, numpy as np, onnxruntime as ort
print("the script prints", *sys.argv[1:])
options = ort.SessionOptions()
options.intra_op_num_threads = int(sys.argv[1])
session = ort.InferenceSession("tiny.onnx", options)
(name,) = (given.name for given in session.get_inputs())
session.run(None, {name: np.ones((1, 4), np.float32)})
ort.InferenceSession("tiny.onnx")
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    tiny.save(tiny.mlp(), tmp_path)
    path = tmp_path / "infer.py"
    path.write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return path.name


def test_each_session_is_compared_with_the_defaults(script: str, capfd: pytest.CaptureFixture[str]) -> None:
    main(["run", script, "--budget", "1", "--no-history", "--json", "--", "1", "0"])
    captured = capfd.readouterr()
    compared, alone = json.loads(captured.out)
    assert "the script prints 1 0" in captured.err
    assert compared["session"]["run_count"] == 1
    runs = compared["result"]["runs"]
    assert [run["config"].get("intra_op_threads") for run in runs] == [None, 1]
    assert all(run["failure"] is None and run["median_s"] for run in runs)
    assert compared["result"]["inputs"]["made_by"].startswith("1 examples of 1 files")
    assert "it never ran" in " ".join(alone["session"]["notes"])
    assert len(alone["result"]["runs"]) == 1


def test_a_script_that_fails_or_makes_no_session(
    script: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", script, "--", "1", "7"]) == 3
    assert "infer.py ended with exit code 7" in capfd.readouterr().err
    (tmp_path / "empty.py").write_text("print('nothing')")
    assert main(["run", "empty.py"]) == 2
    assert "made no onnxruntime session" in capfd.readouterr().err
    assert main(["run", "absent.py"]) == 2


def test_a_session_that_cannot_be_measured_is_open(script: str, tmp_path: Path) -> None:
    remove = "\nimport os; os.remove('tiny.onnx')\nsys.exit("
    (tmp_path / script).write_text(SCRIPT.replace("\nsys.exit(", remove))
    assert main(["run", script, "--", "1", "0"]) == 3
