"""Whether `wb.decode` tells what a plain loop reaches: `python -m benchmarks.decoding`.

A second process decodes the same prompt with ONNX Runtime and numpy alone. It makes a pass before each one of
ours, and the process whose turn it is not is frozen. Both are fresh in each round. The ratio is that of the
tokens a second in the same round. The names of the cache are those of Hugging Face's exports.

The part `roof` prints what memory allows beside what bound caches and weights of 8, 4 and 2 bits reach, for
two prompts and two batches. The part `caches` decodes one layer of grouped attention with a cache of 32-bit
and 16-bit floats and of int8, copied and in place. The part `genai` runs a folder of ONNX Runtime GenAI
beside a session, with `--genai PYTHON` of an environment that has it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from onnx import TensorProto

import workbench as wb
from tests.core.models import tiny
from tests.core.models.decoders import GENAI_CONFIG, grouped
from workbench.core.measure.limits import Progress
from workbench.core.measure.pairs import typical_s
from workbench.core.measure.percentiles import mean_of

ROOT = Path(__file__).parents[1]
MODEL = "llama-small"
WARM_UP_TOKENS = 3


class PlainLoop:
    """The second process, and the seconds of each of its passes by the round."""

    def __init__(self, path: Path, prompt: list[int], count: int) -> None:
        self.passes: dict[int, list[list[float]]] = defaultdict(list)
        self.tokens: list[int] = []
        self._command = [sys.executable, "-m", "benchmarks.decoding", "--plain", str(path)]
        self._asked = {"prompt": prompt, "count": count}
        self._process: subprocess.Popen[str] | None = None

    def before_each(self, progress: Progress) -> None:
        """Make a pass before each pass of ours."""
        if progress.round == 0 or not progress.doing.endswith(": decoding"):
            return
        if progress.round not in self.passes:
            self.end()
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
            )
            self._answer(self._asked | {"count": WARM_UP_TOKENS})
        answer = self._answer(self._asked)
        self.passes[progress.round].append(answer["step_s"])
        self.tokens = answer["tokens"]

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        psutil.Process(process.pid).resume()
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(process.stdout.readline())
        psutil.Process(process.pid).suspend()
        return answer


def serve(path: str) -> None:
    """Decode what each line of stdin asks for."""
    import onnxruntime as ort

    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    for line in sys.stdin:
        print(json.dumps(decoded(session, **json.loads(line))), flush=True)


def decoded(session: Any, prompt: list[int], count: int) -> dict[str, Any]:
    """Return the tokens after a prompt, and the seconds of each step with its feed."""
    outputs = [value.name for value in session.get_outputs()]
    wanted = {value.name: value.shape for value in session.get_inputs()}
    caches = {name: name.replace("past_key_values", "present") for name in wanted if "past" in name}
    feed: dict[str, Any] = {
        name: np.zeros((1, wanted[name][1], 0, wanted[name][3]), np.float32) for name in caches
    }
    fresh, total, tokens, step_s = prompt, len(prompt), list[int](), list[float]()
    for _ in range(count):
        began = time.perf_counter()
        feed["input_ids"] = np.array([fresh], np.int64)
        feed["attention_mask"] = np.ones((1, total), np.int64)
        feed["position_ids"] = np.arange(total - len(fresh), total, dtype=np.int64)[None]
        made = dict(zip(outputs, session.run(None, feed), strict=True))
        step_s.append(time.perf_counter() - began)
        tokens.append(int(made["logits"][0, -1].argmax()))
        feed = {past: made[present] for past, present in caches.items()}
        fresh, total = tokens[-1:], total + 1
    return {"tokens": tokens, "step_s": step_s}


def main() -> None:
    """Print what each part found."""
    parser = argparse.ArgumentParser(prog="benchmarks.decoding", description=__doc__)
    parser.add_argument("--plain", metavar="MODEL", help="decode what stdin asks for, and nothing else")
    parser.add_argument("--prompt", type=int, default=32, help="tokens")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds of each part")
    parser.add_argument(
        "--parts", nargs="+", choices=("loop", "roof", "caches", "genai"), default=["loop", "roof", "caches"]
    )
    parser.add_argument("--genai", metavar="PYTHON", default=sys.executable, help="with ONNX Runtime GenAI")
    options = parser.parse_args()
    if options.plain:
        serve(options.plain)
        return
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    if "loop" in options.parts:
        beside_a_plain_loop(options)
    if "roof" in options.parts:
        print(under_the_roof(options.budget), flush=True)
    if "caches" in options.parts:
        for element in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT8):
            print(with_cache_of(element, options.budget), flush=True)
    if "genai" in options.parts:
        print(beside_genai(options.genai, options.budget), flush=True)


def under_the_roof(budget_s: float) -> wb.Decoding:
    """Measure the bandwidth of this machine, then several forms of one model."""
    wb.peaks([1])
    base = wb.Config(intra_op_threads=1)
    configs = [
        base,
        base.replace(io_binding=True),
        *(base.replace(precision=wb.WeightOnly(bits=bits)) for bits in (8, 4, 2)),
    ]
    return wb.decode(
        MODEL, *configs, prompt_lengths=[16, 64], batch=[1, 4], tokens=12, budget_s=budget_s,
        progress=False, keep=False,
    )  # fmt: skip


def with_cache_of(element: int, budget_s: float) -> wb.Decoding:
    """Decode a tiny model whose cache has this element type, copied and in place."""
    with tempfile.TemporaryDirectory() as folder:
        model = tiny.save(grouped(element), Path(folder), "model.onnx")
        configs = wb.Config(intra_op_threads=1), wb.Config(intra_op_threads=1, io_binding=True)
        return wb.decode(
            model, *configs, prompt=[3, 1, 4, 1, 5], tokens=24, budget_s=budget_s / 3, progress=False,
            keep=False,
        )  # fmt: skip


def beside_genai(python: str, budget_s: float) -> wb.Decoding:
    """Decode a tiny model of ours, in GenAI's format, with its generator and with a session."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "genai_config.json").write_text(json.dumps(GENAI_CONFIG))
        model = tiny.save(grouped(), Path(folder), "model.onnx")
        engine = wb.Engine("genai", threads=1).replace(runtime=python)
        return wb.decode(
            model, wb.Config(intra_op_threads=1), engine, prompt=[3, 1, 4, 1, 5], tokens=8,
            budget_s=budget_s, progress=False, keep=False,
        )  # fmt: skip


def beside_a_plain_loop(options: argparse.Namespace) -> None:
    """Print both rates and their ratio."""
    draws = random.Random(0)
    prompt = [draws.randrange(1000) for _ in range(options.prompt)]
    plain = PlainLoop(wb.load(MODEL).path, prompt, options.tokens)
    print(f"{MODEL}, {len(prompt)} tokens, then {options.tokens}", flush=True)
    try:
        record = wb.decode(
            MODEL, prompt=prompt, tokens=options.tokens, budget_s=options.budget, progress=plain.before_each,
            keep=False,
        ).record  # fmt: skip
    finally:
        plain.end()
    (run,) = record.runs
    rates: dict[str, list[float]] = {"ours": [], "plain": []}
    for number, passes in plain.passes.items():
        ours = [part.step_s for part in run.passes if part.round == number]
        for name, steps in (("ours", ours), ("plain", passes)):
            rates[name].append((options.tokens - 1) / typical_s(sum(step_s[1:]) for step_s in steps))
    ratio = mean_of("ratio", [ours / other for ours, other in zip(*rates.values(), strict=True)])
    for name, values in rates.items():
        print(f"{name}: {mean_of(name, values).value:.2f} tokens/s; rounds {[round(v, 2) for v in values]}")
    interval = ratio.note if ratio.low is None else f"95 % CI {ratio.low:.3f} to {ratio.high:.3f}"
    same = "the same tokens" if list(record.tokens) == plain.tokens else "OTHER TOKENS"
    print(f"ours / plain: {ratio.value:.3f} ({interval}) over {len(plain.passes)} rounds; {same}")


if __name__ == "__main__":
    main()
