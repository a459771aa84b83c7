"""A child process that asks a server over HTTP with Triton's own client; one JSON command a line of stdin.

Run with the server's address, the model's name, and a file of `write_values` with one feed.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import tritonclient.http as triton

from workbench.core.worker.values import read_values, write_values


def main() -> None:
    url, model, feeds, tensors = sys.argv[1:5]
    client = Client(url, model, read_values(Path(feeds))[0], json.loads(tensors))
    for line in sys.stdin:
        command = json.loads(line)
        handle = getattr(client, command.pop("do"))
        print(json.dumps(handle(**command)), flush=True)


class Client:
    """Asks the same inputs again and again, from one thread or from several."""

    def __init__(self, url: str, model: str, feed: dict[str, Any], tensors: dict[str, Any]) -> None:
        self.url, self.model = url, model
        self.outputs_wanted = [
            triton.InferRequestedOutput(name, binary_data=True) for name in tensors["outputs"]
        ]
        self.inputs = [self._input(name, datatype, feed[name]) for name, datatype in tensors["inputs"]]

    def outputs(self, path: str) -> dict[str, Any]:
        """Ask once and write the outputs to a file of `write_values`."""
        with triton.InferenceServerClient(self.url) as connection:
            answer = self._ask(connection)
        arrays = {wanted.name(): answer.as_numpy(wanted.name()) for wanted in self.outputs_wanted}
        write_values(Path(path), [arrays])
        return {}

    def load(self, callers: int, seconds: float) -> dict[str, Any]:
        """Let that many callers ask one request after the other; return each latency, and the time of all."""
        gate = threading.Barrier(callers + 1)
        latencies: list[list[float]] = [[] for _ in range(callers)]
        errors: list[str] = []

        def call(own: list[float]) -> None:
            try:
                with triton.InferenceServerClient(self.url) as connection:
                    self._ask(connection)  # the connection is made outside of the time
                    gate.wait()
                    until = time.perf_counter() + seconds
                    while (began := time.perf_counter()) < until:
                        self._ask(connection)
                        own.append(time.perf_counter() - began)
            except threading.BrokenBarrierError:
                pass  # the error of the caller that failed is reported
            except Exception as error:  # noqa: BLE001 - reported to the parent
                errors.append(str(error))
                gate.abort()  # no caller waits for this one

        threads = [threading.Thread(target=call, args=(own,)) for own in latencies]
        for thread in threads:
            thread.start()
        with contextlib.suppress(threading.BrokenBarrierError):
            gate.wait()
        began = time.perf_counter()
        for thread in threads:
            thread.join()
        elapsed_s = time.perf_counter() - began
        return {
            "latencies_s": [s for own in latencies for s in own],
            "elapsed_s": elapsed_s,
            "errors": errors,
        }

    def _ask(self, connection: Any) -> Any:
        return connection.infer(self.model, self.inputs, outputs=self.outputs_wanted)

    def _input(self, name: str, datatype: str, value: Any) -> Any:
        array = np.asarray(value, order="C")  # np.ascontiguousarray makes a scalar one-dimensional
        tensor = triton.InferInput(name, list(array.shape), datatype)
        tensor.set_data_from_numpy(array, binary_data=True)
        return tensor


if __name__ == "__main__":
    main()
