"""PyTorch as an engine: a module that a factory makes, or a sample's architecture, eager or compiled."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch


def versions() -> dict[str, str]:
    return {"torch": torch.__version__}


def load(model: str, plan: dict[str, Any]) -> Module:
    """Make the module, put it on its device, and compile it if asked."""
    options = plan["engine"]
    if plan["threads"]:
        torch.set_num_threads(plan["threads"])
    device = options.get("device") or "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no CUDA device")
    made = _factory(options.get("factory"), plan["sample"], plan["samples"])(model)
    if not isinstance(made, torch.nn.Module):
        raise TypeError(f"the factory returned a {type(made).__name__}, not a torch.nn.Module")
    module: Any = made.eval().to(device)
    if options.get("compile"):
        module = torch.compile(module, mode=options["compile"])
    how = "compiled" if options.get("compile") else "eager"
    return Module(module, device, plan, f"PyTorch {how} on {device}")


def _factory(name: str | None, sample: str | None, samples: str) -> Callable[[str], Any]:
    if name is None:
        if sample is None:
            raise RuntimeError(
                "this model is no sample: factory='package.module:function' must name what makes its module"
            )
        return lambda path: _sample_module(samples, sample, path)
    place, _, function = name.rpartition(":")
    in_file = place.endswith(".py")
    module = module_of(place, Path(place).stem) if in_file else importlib.import_module(place)
    factory: Callable[[str], Any] = getattr(module, function)
    return factory


def module_of(path: str, name: str, folders: list[str] | None = None) -> Any:
    """Import the Python file at a path under a name; `folders` makes it a package."""
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _sample_module(samples: str, sample: str, path: str) -> Any:
    """Make a sample's module; `samples` is the folder of our package, which this environment may lack."""
    module_of(str(Path(samples) / "__init__.py"), "sample_models", [samples])
    return importlib.import_module("sample_models.torch_module").torch_module(sample, path)


class Module:
    """A module on its device; inputs are given in the order of the ONNX file's."""

    def __init__(self, module: Any, device: str, plan: dict[str, Any], where: str) -> None:
        self.names = list(plan["outputs"])
        self.runs_on = [where]
        self.threads = torch.get_num_threads() if device == "cpu" else None
        self._module, self._device, self._inputs = module, device, list(plan["inputs"])

    def call(self, feed: Mapping[str, Any]) -> Callable[[], Any]:
        given = [torch.from_numpy(feed[name].copy()).to(self._device) for name in self._inputs]
        module = self._module
        wait = torch.cuda.synchronize if self._device == "cuda" else None

        def run() -> Any:
            with torch.inference_mode():
                result = module(*given)
            if wait is not None:
                wait()
            return result

        return run

    def arrays(self, result: Any) -> list[Any]:
        return [tensor.detach().cpu().numpy() for tensor in tensors(result)]


def tensors(result: Any) -> list[Any]:
    """Return the tensors of a module's result in order: of a tuple, a dict, or a result of transformers."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, Mapping):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [tensor for item in result for tensor in tensors(item)]
    return []
