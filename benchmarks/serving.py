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
from typing import Any

import workbench as wb
from benchmarks.frame import interval, table
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
    """Print a row for each model behind our server and behind the naive one."""
    rows = []
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
                rows.append((name, kind, *cells(checked.record.check)))
    print(table(("model", "server", "bare session", "HTTP adds", *(f"{n} callers" for n in CALLERS)), rows))


def cells(check: Any) -> list[str]:
    """Return what HTTP adds to a bare session, and the rate with each number of callers."""
    added = check.overhead_s
    ends = [None if end is None else end * 1e3 for end in (added.low, added.high)]
    rates = [check.throughput(callers) for callers in CALLERS]
    return [
        f"{check.bare_s * 1e3:.2f} ms",
        f"{added.value * 1e3:.2f} ms{interval(*ends)}",
        *(f"{rate.value:.0f}/s" if rate else "-" for rate in rates),
    ]


def engines(budget_s: float, runtime: str | None) -> None:
    """Print a row for each model on each engine that is installed."""
    candidates = {}
    if find_spec("openvino"):
        candidates["OpenVINO"] = wb.Engine("openvino")
    if runtime or find_spec("torch"):
        candidates["PyTorch eager"] = wb.Engine("pytorch").replace(runtime=runtime)
        candidates["PyTorch compiled"] = wb.Engine("pytorch", compile="default").replace(runtime=runtime)
    if not candidates:
        print("no other engine is installed: pip install openvino, or --runtime of an environment with torch")
        return
    rows = []
    for name in COMPARED:
        try:
            result = wb.compare(
                name, wb.Config(), *candidates.values(), budget_s=budget_s * len(candidates), progress=False,
                keep=False,
            )  # fmt: skip
        except WorkbenchError as error:
            rows.append((name, "all", "-", error.problem))
            continue
        verdicts = zip(candidates, result.verdicts, strict=True)
        rows += [(name, label, in_words(verdict), verdict.kind) for label, verdict in verdicts]
    print(table(("model", "engine", "ONNX Runtime's time over the engine's (95 % CI)", "verdict"), rows))


def in_words(verdict: Verdict) -> str:
    """Return the ratio with its interval, as far as they are known."""
    return "-" if verdict.ratio is None else f"{verdict.ratio:.2f}{interval(verdict.low, verdict.high)}"


if __name__ == "__main__":
    sys.exit(main())
