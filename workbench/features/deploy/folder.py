"""The folder of a deployment: written whole beside its place, then moved there."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from filecmp import cmp
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.core.bundle.privacy import without_paths
from workbench.core.config.plan import SessionPlan, session_plan
from workbench.core.errors import DeployError
from workbench.core.models.fingerprint import read_sha256
from workbench.core.models.model import copy_model
from workbench.core.plugin_packages import plugin_packages
from workbench.core.prepare.preparing import Prepared
from workbench.core.text import path_text
from workbench.core.thread_variables import obeys
from workbench.features.deploy import texts, triton
from workbench.features.deploy.contract import Contract, contract_of
from workbench.features.deploy.record import DeployedFile, DeploymentRecord
from workbench.features.deploy.session_file import session_file

Kind = Literal["python", "triton"]
KINDS: tuple[Kind, ...] = ("python", "triton")
SERVING = Path(__file__).with_name("serving")
WARM_UP_RUNS = 5
_MAX_JSON_BYTES = 4 << 20  # read in 0.1 s; a photo of 224 by 224 pixels takes 3 MiB
MAX_ELEMENTS = 1 << 20  # of a tensor in JSON or of texts, each an object of Python
_LIMITS = ("max_body_bytes", "max_queue", "timeout_s", "concurrency")


@dataclass(frozen=True, slots=True)
class Serving:
    """How the server runs: the user's choices, written into the deployment."""

    name: str
    fallback: bool
    max_body_bytes: int
    max_queue: int
    timeout_s: float
    concurrency: int
    threads_from_environment: bool = False


def write_deployment(
    prepared: Prepared,
    feed: Mapping[str, Any],
    folder: Path,
    kind: Kind,
    serving: Serving,
    cancel: threading.Event | None,
) -> DeploymentRecord:
    """Write everything that serves the prepared model; return what was written."""
    contract = contract_of(prepared.model)
    examples = {tensor.name: np.asarray(feed[tensor.name]) for tensor in contract.inputs}
    with whole_folder(folder) as target:
        write = _python if kind == "python" else _triton
        notes = write(target, prepared, contract, examples, serving, cancel)
        files = deployed_files(target, cancel)
    return DeploymentRecord(
        name=serving.name,
        kind=kind,
        config=prepared.asked,
        providers=_providers(prepared),
        batchable=contract.batchable,
        concurrency=serving.concurrency,
        files=files,
        notes=notes,
        check=None,
    )


def _python(
    target: Path,
    prepared: Prepared,
    contract: Contract,
    examples: dict[str, Any],
    serving: Serving,
    cancel: threading.Event | None,
) -> tuple[str, ...]:
    model = copy_model(prepared.model, target / "model", cancel)
    providers = _providers(prepared)
    notes = tuple(prepared.notes)
    plan = with_libraries(session_plan(prepared.config), target)
    limits = {field: value for field, value in asdict(serving).items() if field in _LIMITS}
    limits |= {"max_json_bytes": _MAX_JSON_BYTES, "max_elements": MAX_ELEMENTS}
    document = {
        "name": serving.name,
        "version": "1",
        "model": f"model/{model.name}",
        "files": {file.path: file.sha256 for file in deployed_files(target, cancel)},
        "providers": list(providers),
        "fallback": serving.fallback,
        "warm_up_runs": WARM_UP_RUNS,
        "inputs": [asdict(tensor) for tensor in contract.inputs],
        "outputs": [asdict(tensor) for tensor in contract.outputs],
        "limits": limits,
    }
    (target / "deployment.json").write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    packages, from_environment = (
        texts.environment(prepared.asked.interpreter),
        serving.threads_from_environment,
    )
    if from_environment and packages.onnxruntime and not obeys(packages.versions[packages.onnxruntime]):
        raise DeployError(
            f"ONNX Runtime {packages.versions[packages.onnxruntime]} reads no variable for its threads",
            "deploy with 1.29 or newer, or leave threads_from_environment out",
        )
    (target / "session.py").write_text(session_file(plan, threads_from_environment=from_environment), "utf-8")
    finds_plugins = "auto" in dict(plan.plugins).values()
    with_plugins = plugin_packages(prepared.asked.interpreter) if finds_plugins else ()
    plugins = [package.requirement for package in with_plugins]
    requirements = "\n".join((*texts.requirements(providers, packages), *plugins)) + "\n"
    (target / "requirements.txt").write_text(requirements, "utf-8")
    (target / "Dockerfile").write_text(texts.dockerfile(packages), "utf-8")
    asked = prepared.asked.replace(runtime=None)  # requirements.txt has its versions
    changed = ", ".join(f"{name}={value}" for name, value in asked.changed().items())
    changed = str(without_paths(changed))
    page = texts.readme(serving.name, changed or "defaults", contract, providers, serving.fallback, notes)
    (target / "README.md").write_text(page, "utf-8")
    arrays = {
        f"input_{place}": array.astype(str) if array.dtype.kind == "O" else array  # no pickle
        for place, array in enumerate(examples.values())
    }
    np.savez_compressed(target / "examples.npz", allow_pickle=False, **arrays)
    for name in ("server.py", "client.py"):
        shutil.copyfile(SERVING / name, target / name)
    return notes


def _triton(
    target: Path,
    prepared: Prepared,
    contract: Contract,
    examples: dict[str, Any],
    serving: Serving,
    cancel: threading.Event | None,
) -> tuple[str, ...]:
    if not prepared.model.path.suffix == ".onnx":
        raise DeployError(
            "Triton's backend reads .onnx files, and this config makes an .ort file",
            'leave saved_graph="ort" out: config.replace(saved_graph=None)',
        )
    copy_model(prepared.model, target / serving.name / "1", cancel)
    text = triton.config_text(
        serving.name, prepared.config, contract, examples, instances=serving.concurrency
    )
    (target / serving.name / "config.pbtxt").write_text(text, "utf-8")
    lost = tuple(f"not expressed in Triton: {option}" for option in triton.not_expressed(prepared.config))
    return (*lost, *prepared.notes)


def with_libraries(plan: SessionPlan, target: Path) -> SessionPlan:
    """Copy the libraries of custom operators and plugins; return the plan that registers the copies."""
    folder = target / "libraries"

    def copied(library: str) -> str:
        name = Path(library).name
        if not Path(library).is_file():
            raise DeployError(f"there is no library {path_text(Path(library))}", "give the path of a file")
        folder.mkdir(exist_ok=True)
        copies = sorted(path.name for path in folder.iterdir())  # other stages of a pipeline have theirs here
        for copy in copies:
            if copy.endswith(name) and cmp(library, folder / copy, shallow=False):
                return copy
        copy = name if name not in copies else f"{len(copies)}-{name}"
        shutil.copyfile(library, folder / copy)
        return copy

    plugins = tuple((name, at if at == "auto" else copied(at)) for name, at in plan.plugins)
    return replace(plan, custom_ops=tuple(map(copied, plan.custom_ops)), plugins=plugins)


def deployed_files(folder: Path, cancel: threading.Event | None) -> tuple[DeployedFile, ...]:
    return tuple(
        DeployedFile(path.relative_to(folder).as_posix(), path.stat().st_size, read_sha256(path, cancel))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )


def _providers(prepared: Prepared) -> tuple[str, ...]:
    return tuple(name for name, _ in session_plan(prepared.config).providers)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder beside `folder`, which becomes it at the end; on an error nothing is left."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DeployError(
            f"{path_text(folder)} is not an empty folder", "name a folder that does not exist yet"
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise DeployError(
            f"{path_text(folder)} cannot be made: {error.strerror}", "name a folder that you may write to"
        ) from error
    try:
        yield temporary
        temporary.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        temporary.rename(folder)
    except OSError as error:
        raise DeployError(
            f"{path_text(folder)} cannot be written: {error.strerror}",
            "free some space, or name another folder",
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
