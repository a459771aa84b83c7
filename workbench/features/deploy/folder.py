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
    plan, notes = session_plan(prepared.config), tuple(prepared.notes)
    with whole_folder(folder) as target:
        if kind == "python":
            model = copy_model(prepared.model, target / "model", cancel)
            plan = with_libraries(plan, target)
            files = deployed_files(target, cancel)
            settings = _settings(serving, contract, plan, f"model/{model.name}", files)
            write_texts(target, _server_texts(prepared, contract, serving, plan, settings))
            arrays = {f"input_{place}": as_texts(array) for place, array in enumerate(examples.values())}
            np.savez_compressed(target / "examples.npz", allow_pickle=False, **arrays)
            for name in ("server.py", "client.py"):
                shutil.copyfile(SERVING / name, target / name)
        else:
            _check_onnx(prepared)
            copy_model(prepared.model, target / serving.name / "1", cancel)
            text = triton.config_text(
                serving.name, prepared.config, contract, examples, instances=serving.concurrency
            )
            write_texts(target, {f"{serving.name}/config.pbtxt": text})
            lost = triton.not_expressed(prepared.config)
            notes = (*(f"not expressed in Triton: {option}" for option in lost), *notes)
        files = deployed_files(target, cancel)
    return DeploymentRecord(
        name=serving.name,
        kind=kind,
        config=prepared.asked,
        providers=_providers(plan),
        batchable=contract.batchable,
        concurrency=serving.concurrency,
        files=files,
        notes=notes,
        check=None,
    )


def _providers(plan: SessionPlan) -> tuple[str, ...]:
    return tuple(name for name, _ in plan.providers)


def _settings(
    serving: Serving, contract: Contract, plan: SessionPlan, model: str, files: tuple[DeployedFile, ...]
) -> dict[str, Any]:
    """Return what the server reads from deployment.json."""
    limits = {field: value for field, value in asdict(serving).items() if field in _LIMITS}
    return {
        "name": serving.name,
        "version": "1",
        "model": model,
        "files": {file.path: file.sha256 for file in files},
        "providers": [*_providers(plan)],
        "fallback": serving.fallback,
        "warm_up_runs": WARM_UP_RUNS,
        "inputs": [asdict(tensor) for tensor in contract.inputs],
        "outputs": [asdict(tensor) for tensor in contract.outputs],
        "limits": {**limits, "max_json_bytes": _MAX_JSON_BYTES, "max_elements": MAX_ELEMENTS},
    }


def _server_texts(
    prepared: Prepared, contract: Contract, serving: Serving, plan: SessionPlan, settings: dict[str, Any]
) -> dict[str, str]:
    """Return the files of a Python server that are made for this model, by name."""
    asked, from_environment = prepared.asked, serving.threads_from_environment
    packages = texts.environment(asked.interpreter)
    if from_environment and packages.onnxruntime and not obeys(packages.versions[packages.onnxruntime]):
        raise DeployError(
            f"ONNX Runtime {packages.versions[packages.onnxruntime]} reads no variable for its threads",
            "deploy with 1.29 or newer, or leave threads_from_environment out",
        )
    finds_plugins = "auto" in dict(plan.plugins).values()
    plugins = plugin_packages(asked.interpreter) if finds_plugins else ()
    required = (
        *texts.requirements(_providers(plan), packages),
        *(package.requirement for package in plugins),
    )
    changes = asked.replace(runtime=None).changed()  # requirements.txt has the versions of a runtime
    changed = str(without_paths(", ".join(f"{name}={value}" for name, value in changes.items())))
    return {
        "deployment.json": json.dumps(settings, indent=2) + "\n",
        "session.py": session_file(plan, threads_from_environment=from_environment),
        "requirements.txt": "\n".join(required) + "\n",
        "Dockerfile": texts.dockerfile(packages),
        "README.md": texts.readme(
            serving.name, changed or "defaults", contract, _providers(plan), serving.fallback, prepared.notes
        ),
    }


def write_texts(folder: Path, written: Mapping[str, str]) -> None:
    """Write the text files of a deployment."""
    for name, text in written.items():
        (folder / name).write_text(text, "utf-8")


def as_texts(value: Any) -> np.ndarray[Any, Any]:
    """Return a value as an array that is written without pickle: objects are texts."""
    array = np.asarray(value)
    return array.astype(str) if array.dtype.kind == "O" else array


def _check_onnx(prepared: Prepared) -> None:
    if not prepared.model.path.suffix == ".onnx":
        raise DeployError(
            "Triton's backend reads .onnx files, and this config makes an .ort file",
            'leave saved_graph="ort" out: config.replace(saved_graph=None)',
        )


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
