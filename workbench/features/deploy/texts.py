"""The texts of a deployment: its requirements, its Dockerfile, its README."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from workbench.core.bundle.machine import ORT_PACKAGES
from workbench.core.config.provider import CPU
from workbench.core.errors import DeployError
from workbench.core.worker.packages import Packages, packages_of
from workbench.features.deploy.contract import Contract

SERVER_PACKAGES = ("numpy", "fastapi", "uvicorn", "prometheus-client", "pydantic")
EXTRA = 'pip install "ort-workbench[serve]"'
_GPU = ("CUDAExecutionProvider", "TensorrtExecutionProvider")
_OWN_BUILDS = {
    "OpenVINOExecutionProvider": "onnxruntime-openvino",
    "DmlExecutionProvider": "onnxruntime-directml",
    "QNNExecutionProvider": "onnxruntime-qnn",
}

_DOCKERFILE = """FROM python:{python}-slim
WORKDIR /srv
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
RUN useradd --system server
USER server
EXPOSE 8000
HEALTHCHECK CMD python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/v2/health/ready')"
CMD ["python", "server.py", "--host", "0.0.0.0", "--port", "8000"]
"""

_README = """# {name}

A server of one model, with the session options that were measured: `{config}`.
It speaks the [Open Inference Protocol](https://github.com/kserve/open-inference-protocol), version 2,
over HTTP, with the binary tensor extension. It needs nothing of the tool that wrote it.

    python -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python server.py --port 8000

or `docker build -t {name} . && docker run -p 8000:8000 {name}`. Then:

    pip install "tritonclient[http]" && python client.py --url localhost:8000

| address | answer |
|---|---|
| `GET /v2/health/live`, `GET /v2/health/ready` | 200, once the session is loaded and has run |
| `GET /v2/models/{name}` | inputs, outputs, and the execution providers in effect |
| `POST /v2/models/{name}/infer` | outputs; JSON or binary tensors |
| `GET /metrics` | Prometheus: latency, run time, requests in flight, requests by status |

| input | type | shape |
|---|---|---|
{inputs}

| output | type | shape |
|---|---|---|
{outputs}

Limits stand in `deployment.json`: `max_body_bytes`, `max_json_bytes`, `max_elements` of a tensor in JSON or
of texts (413), `max_queue` (503), `timeout_s` (408, 503), `concurrency` (runs at once).
SIGTERM ends the server after the requests that run. Providers: {providers}. {fallback}
The server checks the SHA-256 of its model files when it starts. It listens on 127.0.0.1 unless
`--host` gives another address, and it has no authentication and no TLS: put it behind a proxy that has.
{notes}"""


def environment(python: str) -> Packages:
    """Return the versions of what the server needs; what that environment lacks is as installed here."""
    there = packages_of(python, (*ORT_PACKAGES, *SERVER_PACKAGES))
    here = packages_of(sys.executable, SERVER_PACKAGES)
    return Packages(there.python, {**here.versions, **there.versions})


def requirements(providers: Sequence[str], packages: Packages) -> tuple[str, ...]:
    """Return the exact requirements of the server."""
    missing = [name for name in SERVER_PACKAGES if name not in packages.versions]
    if missing:
        raise DeployError(f"{missing[0]} is not installed here, so its version is not known", EXTRA)
    return (
        _onnxruntime(providers, packages),
        *(f"{name}=={packages.versions[name]}" for name in SERVER_PACKAGES),
    )


def dockerfile(packages: Packages) -> str:
    return _DOCKERFILE.format(python=packages.python)


def readme(
    name: str, config: str, contract: Contract, providers: Sequence[str], fallback: bool, notes: Sequence[str]
) -> str:
    """Return one page on how to run and call the server. `name` holds letters, digits, - and _ only."""
    lines = {
        side: "\n".join(
            f"| {cell(tensor.name)} | {tensor.datatype} | {list(tensor.shape)} |" for tensor in tensors
        )
        for side, tensors in (("inputs", contract.inputs), ("outputs", contract.outputs))
    }
    return _README.format(
        name=name,
        config=cell(config),
        providers=", ".join(providers),
        fallback="It starts without those that are missing, and says so in the model's metadata."
        if fallback
        else "It refuses to start without one of them.",
        notes="".join(f"\n- {note}" for note in notes),
        **lines,
    )


def cell(text: str) -> str:
    """Return a text from a model for a Markdown table: on one line, without markup."""
    return "".join(f"\\{letter}" if letter in "|`<>[]*_" else letter for letter in " ".join(text.split()))


def _onnxruntime(providers: Sequence[str], packages: Packages) -> str:
    build = packages.onnxruntime
    if build is None:
        raise DeployError(
            "the environment of this config has no ONNX Runtime, whose version the server needs",
            "install onnxruntime there, or deploy where the config was measured",
        )
    version = packages.versions[build]
    own = [_OWN_BUILDS[name] for name in providers if name in _OWN_BUILDS]
    if own:
        return f"{own[0]}=={version}" if own[0] == build else own[0]
    if build == "onnxruntime-gpu" and any(name in _GPU for name in providers):
        return f"onnxruntime-gpu[cuda,cudnn]=={version}"
    # The build for GPUs has a sibling of the same version without CUDA's libraries; other builds have none.
    return (
        f"onnxruntime=={version}"
        if build == "onnxruntime-gpu" and set(providers) <= {CPU}
        else f"{build}=={version}"
    )
