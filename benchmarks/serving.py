"""What serving costs, and other engines beside ONNX Runtime: `python -m benchmarks.serving`.

The part `server` deploys samples and measures the bare session and HTTP with 1, 4 and 16 callers,
interleaved; then the same model behind a FastAPI server as tutorials write it, without a queue. The part
`engines` compares ONNX Runtime with the engines that are installed, here or in `--runtime`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import workbench as wb
from workbench.core.bundle.comparison import Verdict
from workbench.core.errors import WorkbenchError

CALLERS = (1, 4, 16)
SERVED = ("digits-conv", "mobilenetv2")
COMPARED = ("digits-conv", "mobilenetv2", "resnet50", "bert-base", "gpt2")
NAIVE = '''"""A server as tutorials write it: the session runs on the event loop, without a queue."""

import argparse
import json

import session
import uvicorn
from bounded import FOLDER, JSON_LENGTH, ServedModel
from fastapi import FastAPI, Request

model = ServedModel(json.loads((FOLDER / "deployment.json").read_text()), session)
root = f"/v2/models/{model.settings['name']}"
app = FastAPI()


@app.get("/v2/health/ready")
async def ready():
    return {}


@app.get(root)
async def metadata():
    return {"providers": model.providers}


@app.post(f"{root}/infer")
async def infer(request: Request):
    body = await request.body()
    return model.answer(body, request.headers.get(JSON_LENGTH, str(len(body))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    options, _ = parser.parse_known_args()
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning")
'''


def main(arguments: list[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.serving", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=("server", "engines"), default=["server", "engines"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--block", type=float, default=1.0, metavar="S")
    parser.add_argument(
        "--budget", type=float, default=15.0, metavar="S", help="of one comparison of engines"
    )
    parser.add_argument("--runtime", help="the Python of an environment with torch")
    chosen = parser.parse_args(arguments)
    if "server" in chosen.parts:
        served(chosen.rounds, chosen.block)
    if "engines" in chosen.parts:
        engines(chosen.budget, chosen.runtime)
    return 0


def served(rounds: int, block_s: float) -> None:
    print(
        "| model | server | bare session | HTTP adds | " + " | ".join(f"{n} callers" for n in CALLERS) + " |"
    )
    print("|---" * (4 + len(CALLERS)) + "|")
    for name in SERVED:
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("ours", "naive"):
                deployment = wb.deploy(name, wb.Config(intra_op_threads=1), Path(folder) / kind)
                if kind == "naive":
                    server = Path(folder) / kind / "server.py"
                    server.rename(server.with_name("bounded.py"))
                    server.write_text(NAIVE)
                checked = deployment.check(
                    CALLERS, rounds=rounds, block_s=block_s, progress=False, keep=False
                )
                check = checked.record.check
                assert check is not None
                assert check.overhead_s is not None
                assert check.bare_s is not None
                rates = [check.throughput(callers) for callers in CALLERS]
                cells = [f"{rate.value:.0f}/s" if rate else "-" for rate in rates]
                added = check.overhead_s
                interval = (
                    "" if added.low is None else f" ({added.low * 1e3:.2f} to {(added.high or 0) * 1e3:.2f})"
                )
                times = f"{check.bare_s * 1e3:.2f} ms | {added.value * 1e3:.2f} ms{interval}"
                print(f"| {name} | {kind} | {times} | {' | '.join(cells)} |", flush=True)


def engines(budget_s: float, runtime: str | None) -> None:
    candidates = {}
    if find_spec("openvino"):
        candidates["OpenVINO"] = wb.Engine("openvino")
    if runtime or find_spec("torch"):
        candidates["PyTorch eager"] = wb.Engine("pytorch").replace(runtime=runtime)
        candidates["PyTorch compiled"] = wb.Engine("pytorch", compile="default").replace(runtime=runtime)
    if not candidates:
        print("no other engine is installed: pip install openvino, or --runtime of an environment with torch")
        return
    print(
        "\n| model | engine | ONNX Runtime's time over the engine's (95 % CI) | verdict |\n|---|---|---|---|"
    )
    for name in COMPARED:
        try:
            result = wb.compare(
                name,
                wb.Config(),
                *candidates.values(),
                budget_s=budget_s * len(candidates),
                progress=False,
                keep=False,
            )
        except WorkbenchError as error:
            print(f"| {name} | all | - | {error.problem} |", flush=True)
            continue
        for label, verdict in zip(candidates, result.verdicts, strict=True):
            print(f"| {name} | {label} | {in_words(verdict)} | {verdict.kind} |", flush=True)


def in_words(verdict: Verdict) -> str:
    """Return the ratio with its interval, as far as they are known."""
    if verdict.ratio is None:
        return "-"
    if verdict.low is None or verdict.high is None:
        return f"{verdict.ratio:.2f}"
    return f"{verdict.ratio:.2f} ({verdict.low:.2f} to {verdict.high:.2f})"


if __name__ == "__main__":
    sys.exit(main())
