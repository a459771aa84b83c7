"""The process that asks a server over HTTP; the kernel does not import Triton's client."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.core.errors import DeployError
from workbench.core.prepare.preparing import Prepared
from workbench.core.worker.values import write_values
from workbench.features.deploy.contract import contract_of
from workbench.features.deploy.record import ServedLoad
from workbench.features.deploy.server_process import Server


class ClientProcess:
    """The child process that asks the server."""

    def __init__(self, server: Server, prepared: Prepared, folder: Path, feed: Mapping[str, Any]) -> None:
        contract = contract_of(prepared.model)
        write_values(folder / "asked", [feed])
        tensors = {
            "inputs": [[tensor.name, tensor.datatype] for tensor in contract.inputs],
            "outputs": [tensor.name for tensor in contract.outputs],
        }
        self._server = server
        self._log = folder / "client.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "workbench.features.deploy.http_client"),
                    *(server.url, server.name, str(folder / "asked"), json.dumps(tensors)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
            )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send one command and return its answer."""
        if self._process.stdin is None or self._process.stdout is None:
            raise DeployError("the client has no pipe", "report this as a bug")
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            reason = self._log.read_text("utf-8", "replace").strip().splitlines()[-1:] or ["no reason"]
            raise DeployError(
                f"the client failed: {reason[0]}; the server: {self._server.log_end()}",
                "look whether the server still runs and takes these inputs",
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def load(self, callers: int, seconds: float) -> ServedLoad:
        """Let callers ask for some seconds."""
        answer = self.ask("load", callers=callers, seconds=seconds)
        if answer["errors"]:
            raise DeployError(
                f"{len(answer['errors'])} of {callers} callers failed: {answer['errors'][0]}",
                "raise max_queue or timeout_s of the deployment, or use fewer callers",
            )
        return ServedLoad(callers, tuple(answer["latencies_s"]), float(answer["elapsed_s"]))

    def __enter__(self) -> ClientProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
