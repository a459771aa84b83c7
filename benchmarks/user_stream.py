"""CUDA on a stream of the caller's, in one process: `python -m benchmarks.user_stream MODEL FEEDS.npz`.

A config holds no address, so this is no config of the workbench. Two sessions of one process run in turns;
the last line is JSON. `--stand-in` gives both to the CPU.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from statistics import median
from typing import Any

import numpy as np

ROUNDS = 10
MOST_S = 5.0  # of all rounds; two are made in any case
RUNS = 20  # of a session in a round, fewer where they take long
RUNS_S = 0.25  # of a session in a round; one run is made in any case
WARM_UP_S = 1.0  # of a session; two runs are made in any case
NON_BLOCKING = 1  # cudaStreamNonBlocking
LIBRARIES = ("libcudart.so.13", "libcudart.so.12", "libcudart.so")


def main(arguments: list[str] | None = None) -> int:
    """Run both sessions in turns and print what they took."""
    parser = argparse.ArgumentParser(prog="benchmarks.user_stream", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("feeds")
    parser.add_argument("--stand-in", action="store_true")
    chosen = parser.parse_args(arguments)
    import onnxruntime as ort

    with np.load(chosen.feeds, allow_pickle=False) as arrays:
        feeds = dict(arrays)
    default: list[Any] = ["CPUExecutionProvider"]
    own = default
    if not chosen.stand_in:
        ort.preload_dlls()
        stream = make_stream()
        default = ["CUDAExecutionProvider"]
        own = [("CUDAExecutionProvider", {"user_compute_stream": str(stream)})]
    sessions = [ort.InferenceSession(chosen.model, providers=providers) for providers in (default, own)]
    for session in sessions:
        if not chosen.stand_in and session.get_providers()[0] != "CUDAExecutionProvider":
            raise SystemExit("CUDA did not start")
    outputs = [warmed_up(session, feeds) for session in sessions]
    samples = in_turns([lambda session=session: session.run(None, feeds) for session in sessions])
    equal = all(np.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in zip(*outputs, strict=True))
    answer = {
        "default_ms": median(samples[0]) * 1e3,
        "own_ms": median(samples[1]) * 1e3,
        "runs": len(samples[0]),
        "equal": bool(equal),
    }
    print(json.dumps(answer))
    return 0


def make_stream() -> int:
    """Return the address of a new stream."""
    stream = ctypes.c_void_p()
    for name in LIBRARIES:
        try:
            runtime = ctypes.CDLL(name)
        except OSError:
            continue
        if runtime.cudaStreamCreateWithFlags(ctypes.byref(stream), NON_BLOCKING) or not stream.value:
            raise SystemExit(f"{name} made no stream")
        return stream.value
    raise SystemExit(f"none of {', '.join(LIBRARIES)} loads")


def warmed_up(session: Any, feeds: dict[str, Any]) -> Any:
    """Run a session for a while and return its outputs."""
    until = time.perf_counter() + WARM_UP_S
    session.run(None, feeds)
    while True:
        outputs = session.run(None, feeds)
        if time.perf_counter() > until:
            return outputs


def in_turns(calls: list[Any]) -> list[list[float]]:
    """Return the seconds of each call, a block of each in turns, the order turned round each time."""
    samples: list[list[float]] = [[] for _ in calls]
    until = time.perf_counter() + MOST_S
    for turn in range(ROUNDS):
        if turn > 1 and time.perf_counter() > until:
            break
        order = range(len(calls)) if turn % 2 == 0 else reversed(range(len(calls)))
        for place in order:
            end = time.perf_counter() + RUNS_S
            for _ in range(RUNS):
                began = time.perf_counter()
                calls[place]()
                samples[place].append(time.perf_counter() - began)
                if time.perf_counter() > end:
                    break
    return samples


if __name__ == "__main__":
    sys.exit(main())
