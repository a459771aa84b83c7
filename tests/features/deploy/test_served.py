"""A deployment's server, started as its user would: health, answers, limits, metrics, shutdown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from onnx import helper

import workbench as wb
from tests.core.models import tiny
from workbench.apps.cli import main
from workbench.core.worker.folder import WorkerFolder
from workbench.features.deploy.processes import Server

pytestmark = pytest.mark.real

GATE = """

import time
from pathlib import Path

unhindered, here = run, Path(__file__).parent


def run(session, feeds):
    while (here / "closed").exists():
        (here / "waiting").touch()
        time.sleep(0.01)
    return unhindered(session, feeds)
"""


def request(server: Server, path: str, data: bytes | None = None) -> tuple[int, bytes]:
    """Return status and body, without a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    asked = urllib.request.Request(f"http://{server.url}{path}", data, {"Content-Type": "application/json"})
    try:
        with opener.open(asked, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def infer_body(feed: dict[str, np.ndarray], deployment: dict[str, Any]) -> bytes:
    inputs = [
        {
            "name": tensor["name"],
            "datatype": tensor["datatype"],
            "shape": list(feed[tensor["name"]].shape),
            "data": feed[tensor["name"]].reshape(-1).tolist(),
        }
        for tensor in deployment["inputs"]
    ]
    return json.dumps({"inputs": inputs}).encode()


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> wb.Deployment:
    folder = tmp_path_factory.mktemp("served")
    path = tiny.save(tiny.mlp(), folder)
    return wb.deploy(path, wb.Config(intra_op_threads=1), folder / "out", max_body_bytes=20_000)


@pytest.fixture(scope="module")
def server(deployed: wb.Deployment) -> Iterator[Server]:
    assert deployed.folder is not None
    with WorkerFolder() as folder, Server(deployed.folder, folder / "log") as running:
        assert running.wait_until_ready() > 0
        yield running


def test_the_protocol_is_answered(server: Server, deployed: wb.Deployment) -> None:
    assert deployed.folder is not None
    document = json.loads((deployed.folder / "deployment.json").read_text("utf-8"))
    model = f"/v2/models/{server.name}"
    for path in ("/v2/health/live", "/v2/health/ready", f"{model}/ready", f"{model}/versions/1/ready"):
        assert request(server, path) == (200, b"")
    metadata = json.loads(request(server, model)[1])
    assert metadata["platform"] == "onnxruntime_onnx"
    assert metadata["inputs"] == document["inputs"]
    assert metadata["providers"] == ["CPUExecutionProvider"]
    assert json.loads(request(server, "/v2")[1])["extensions"] == ["binary_tensor_data"]
    feed = {
        name: np.asarray(array)
        for name, array in wb.load(deployed.folder / "model/model.onnx").inputs().feeds[0].items()
    }
    status, answer = request(server, f"{model}/infer", infer_body(feed, document))
    assert status == 200
    assert {output["name"] for output in json.loads(answer)["outputs"]} == {
        tensor["name"] for tensor in document["outputs"]
    }


def test_mistakes_are_told_without_a_stack_trace(server: Server) -> None:
    model = f"/v2/models/{server.name}"
    for path, body, expected in (
        (f"{model}/infer", b"{", 400),
        (f"{model}/infer", b" " * 30_000, 413),
        ("/v2/models/other/infer", b"{}", 404),
        (f"{model}/infer", None, 405),
    ):
        status, answer = request(server, path, body)
        assert status == expected
        assert set(json.loads(answer)) == {"error"}
        assert b"Traceback" not in answer


def test_prometheus_reads_its_metrics(server: Server) -> None:
    request(server, f"/v2/models/{server.name}/infer", b"{")
    status, text = request(server, "/metrics")
    assert status == 200
    for name in (
        b'inference_requests_total{status="400"}',
        b"inference_request_duration_seconds_bucket",
        b"inference_run_duration_seconds_count",
        b"inference_requests_in_flight",
    ):
        assert name in text


def test_a_check_holds_it_against_the_measured_config(deployed: wb.Deployment, tmp_path: Path) -> None:
    checked = deployed.check(callers=(1, 2), rounds=3, block_s=0.05, progress=False, keep=False)
    check = checked.record.check
    assert check is not None
    assert check.agrees
    assert [row.agrees for row in check.agreement] == [True] * len(check.agreement)
    assert check.callers == (1, 2)
    assert check.overhead_s is not None
    assert check.overhead_s.low is not None
    assert check.bare_s is not None
    assert check.providers == ("CPUExecutionProvider",)
    assert checked.to_frame()["callers"].tolist() == ["bare session", "HTTP, 1 caller", "HTTP, 2 callers"]
    assert "outputs equal those measured" in str(checked)
    again = wb.open(checked.save(tmp_path / "checked.ortbench"))
    assert str(again) == str(checked)
    with pytest.raises(wb.DeployError, match="opened from a file"):
        again.check(progress=False)


@pytest.mark.slow
def test_a_scalar_input_is_served_as_measured(tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "y"], ["z"])
    proto = tiny.model([node], [tiny.tensor("x", []), tiny.tensor("y", ["n"])], [tiny.tensor("z", ["n"])])
    deployment = wb.deploy(tiny.save(proto, tmp_path), wb.Config(intra_op_threads=1), tmp_path / "out")
    check = deployment.check(callers=(1,), rounds=1, block_s=0.05, progress=False, keep=False).record.check
    assert check is not None
    assert check.agrees


KERNEL = """
import sys
import workbench as wb

def report(progress):
    if "HTTP" in progress.doing:
        print(progress.doing, flush=True)
        sys.stdin.read()

wb.deploy(sys.argv[1], wb.Config(intra_op_threads=1), sys.argv[2]).check(progress=report, keep=False)
"""


@pytest.mark.slow
def test_a_killed_kernel_leaves_no_process_of_its_check(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    kernel = subprocess.Popen(
        [sys.executable, "-c", KERNEL, str(path), str(tmp_path / "out")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with kernel:
        assert kernel.stdout is not None
        assert b"measuring through HTTP" in kernel.stdout.readline()
        children = psutil.Process(kernel.pid).children(recursive=True)
        assert [child for child in children if "server.py" in child.cmdline()]
        kernel.kill()
        _, alive = psutil.wait_procs(children, timeout=30)
        for child in alive:
            child.kill()
    assert not alive


@pytest.mark.slow
def test_an_int8_model_is_served_as_measured(tmp_path: Path) -> None:
    deployment = wb.deploy("digits-conv", wb.Config(precision=wb.StaticInt8()), tmp_path / "int8")
    check = deployment.check(callers=(1,), rounds=1, block_s=0.05, progress=False, keep=False).record.check
    assert check is not None
    assert check.agrees


@pytest.mark.slow
def test_a_config_of_another_environment_is_served_there(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho started >> {tmp_path}/started\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    path = tiny.save(tiny.mlp(), tmp_path)
    deployment = wb.deploy(path, wb.Config(runtime=str(python), intra_op_threads=1), tmp_path / "out")
    (tmp_path / "started").unlink()
    check = deployment.check(callers=(1,), rounds=1, block_s=0.05, progress=False, keep=False).record.check
    assert check is not None
    assert check.agrees
    starts = (tmp_path / "started").read_text().split()
    assert len(starts) == 3  # asked for its packages, the bare session, the server


@pytest.mark.slow
def test_a_changed_model_is_not_served(tmp_path: Path) -> None:
    other = wb.deploy(
        wb.load(tiny.save(tiny.mlp(), tmp_path)), wb.Config(intra_op_threads=1), tmp_path / "out"
    )
    assert other.folder is not None
    with (other.folder / "model" / "model.onnx").open("ab") as file:
        file.write(b"\0")
    with (
        WorkerFolder() as folder,
        Server(other.folder, folder / "log") as running,
        pytest.raises(wb.DeployError, match="its SHA-256 differs"),
    ):
        running.wait_until_ready()


@pytest.mark.slow
def test_a_provider_that_does_not_start_is_refused_or_told(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    config = wb.Config(providers=("cuda", "cpu"))
    strict = wb.deploy(path, config, tmp_path / "strict")
    assert strict.folder is not None
    with (
        WorkerFolder() as folder,
        Server(strict.folder, folder / "log") as running,
        pytest.raises(wb.DeployError, match="CUDAExecutionProvider did not start"),
    ):
        running.wait_until_ready()
    lenient = wb.deploy(path, config, tmp_path / "lenient", fallback=True)
    assert lenient.folder is not None
    with WorkerFolder() as folder, Server(lenient.folder, folder / "log") as running:
        running.wait_until_ready()
        assert running.providers() == ("CPUExecutionProvider",)


@pytest.mark.slow
def test_a_term_signal_ends_it_in_order(deployed: wb.Deployment) -> None:
    assert deployed.folder is not None
    with WorkerFolder() as folder, Server(deployed.folder, folder / "log") as running:
        running.wait_until_ready()
        running.end(signal.SIGTERM)
        assert running.code in (0, -signal.SIGTERM)  # uvicorn raises the signal again at the end
        assert "Application shutdown complete" in running.log_end()


@pytest.mark.slow
def test_a_request_in_flight_is_answered_before_it_ends(tmp_path: Path) -> None:
    """A file in the deployment's own folder opens the gate that its run waits at."""
    path = tiny.save(tiny.mlp(), tmp_path)
    deployment = wb.deploy(path, wb.Config(intra_op_threads=1), tmp_path / "out")
    assert deployment.folder is not None
    session = deployment.folder / "session.py"
    session.write_text(session.read_text("utf-8") + GATE)
    document = json.loads((deployment.folder / "deployment.json").read_text("utf-8"))
    feed = {name: np.asarray(value) for name, value in wb.load(path).inputs().feeds[0].items()}
    with WorkerFolder() as folder, Server(deployment.folder, folder / "log") as running:
        running.wait_until_ready()
        (deployment.folder / "closed").touch()
        with ThreadPoolExecutor(1) as pool:
            body = infer_body(feed, document)
            asked = pool.submit(request, running, f"/v2/models/{running.name}/infer", body)
            while not (deployment.folder / "waiting").exists():
                assert not asked.done()
            os.kill(running.pid, signal.SIGTERM)
            while "Shutting down" not in running.log_end():
                assert running.code is None
            (deployment.folder / "closed").unlink()
            assert asked.result(60)[0] == 200
        running.end(signal.SIGTERM)
        assert "Application shutdown complete" in running.log_end()


def test_the_command_writes_and_checks_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    arguments = ["deploy", str(path), str(tmp_path / "out"), "--a", "intra_op_threads=1", "--check"]
    assert main([*arguments, "-o", str(tmp_path / "check.ortbench")]) == 0
    assert "outputs equal those measured" in capsys.readouterr().out
    assert wb.open(tmp_path / "check.ortbench").checked
    assert main(arguments) == 2
    assert "not an empty folder" in capsys.readouterr().err


@pytest.mark.slow
def test_a_deployed_model_that_does_not_run_says_so_in_a_load_test(tmp_path: Path) -> None:
    nodes = [helper.make_node("Reshape", ["x", "pairs"], ["y"], "to pairs")]
    weights = {"pairs": np.array([2, -1])}
    proto = tiny.model(nodes, [tiny.tensor("x", [7])], [tiny.tensor("y", ["a", "b"])], weights)
    deployment = wb.deploy(tiny.save(proto, tmp_path), wb.Config(), tmp_path / "out")
    with pytest.raises(wb.RunFailed, match="to pairs"):
        wb.load_test(deployment, progress=False, keep=False)


@pytest.mark.slow
def test_a_load_test_of_a_deployment_goes_through_http(deployed: wb.Deployment) -> None:
    loaded = wb.load_test(deployed, callers=(1, 3), duration_s=0.5, progress=False, keep=False)
    assert isinstance(loaded, wb.Deployment)
    assert loaded.record.check is not None
    assert loaded.record.check.callers == (1, 3)
    with pytest.raises(wb.ConfigError, match="is loaded as it is"):
        wb.load_test(deployed, wb.Config(), progress=False)
