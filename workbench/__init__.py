"""A tuning bench for ONNX Runtime: turn a knob, see what ORT did, get a verdict that can be trusted.

>>> import workbench as wb
>>> faster = wb.Config().replace(level="all", intra_op_threads=1)
>>> faster.level
'all'

The public names are imported at their first use, so that `import workbench` costs next to nothing and the
kernel never loads onnxruntime.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # importing typing for it would be most of our import time
if TYPE_CHECKING:
    from workbench.config import (
        BFloat16,
        Config,
        DynamicInt8,
        Float16,
        Given,
        Provider,
        StaticInt8,
        TransformerFusion,
        WeightOnly,
    )
    from workbench.diagnosis import Doctor, doctor
    from workbench.errors import (
        BundleError,
        Cancelled,
        ConfigError,
        DownloadError,
        HistoryError,
        InputError,
        MetricError,
        ModelError,
        PrepareError,
        ProfileError,
        RunFailed,
        WorkbenchError,
        WorkerError,
    )
    from workbench.measure.limits import Limits
    from workbench.models import load
    from workbench.models.samples import samples
    from workbench.panels.app import Workbench
    from workbench.prepare.pictures import Pictures
    from workbench.prepare.preparing import Prepared, prepare
    from workbench.results import compare, history, open
    from workbench.results_accuracy import accuracy
    from workbench.results_explain import ablate, explain, levels
    from workbench.results_layers import exclude_for, layer_errors, sensitivity
    from workbench.results_precision import keep_if_better, why_slower
    from workbench.results_profile import (
        cold_start,
        memory,
        memory_settings,
        peaks,
        profile,
        read_profile,
        roofline,
        threads,
    )
    from workbench.shown.ablation import Ablation
    from workbench.shown.accuracy import AccuracyTable
    from workbench.shown.comparison import Comparison
    from workbench.shown.explanation import Explanation
    from workbench.shown.exporting import export_html
    from workbench.shown.fusions import Fusions
    from workbench.shown.kept import Kept
    from workbench.shown.layers import LayerErrors, Proposal, Sensitivity
    from workbench.shown.levels import Levels
    from workbench.shown.limits import ColdStarts, Memory, MemorySettings, Peaks, Roofline, Threads
    from workbench.shown.profile import Profile
    from workbench.shown.why import WhySlower

__version__ = "0.1.0"

__all__ = [
    "Ablation",
    "AccuracyTable",
    "BFloat16",
    "BundleError",
    "Cancelled",
    "ColdStarts",
    "Comparison",
    "Config",
    "ConfigError",
    "Doctor",
    "DownloadError",
    "DynamicInt8",
    "Explanation",
    "Float16",
    "Fusions",
    "Given",
    "HistoryError",
    "InputError",
    "Kept",
    "LayerErrors",
    "Levels",
    "Limits",
    "Memory",
    "MemorySettings",
    "MetricError",
    "ModelError",
    "Peaks",
    "Pictures",
    "PrepareError",
    "Prepared",
    "Profile",
    "ProfileError",
    "Proposal",
    "Provider",
    "Roofline",
    "RunFailed",
    "Sensitivity",
    "StaticInt8",
    "Threads",
    "TransformerFusion",
    "WeightOnly",
    "WhySlower",
    "Workbench",
    "WorkbenchError",
    "WorkerError",
    "ablate",
    "accuracy",
    "cold_start",
    "compare",
    "doctor",
    "exclude_for",
    "explain",
    "export_html",
    "history",
    "keep_if_better",
    "layer_errors",
    "levels",
    "load",
    "memory",
    "memory_settings",
    "open",
    "peaks",
    "prepare",
    "profile",
    "read_profile",
    "roofline",
    "samples",
    "sensitivity",
    "threads",
    "why_slower",
]

_HOMES = {
    "Ablation": "workbench.shown.ablation",
    "AccuracyTable": "workbench.shown.accuracy",
    "BFloat16": "workbench.config",
    "ColdStarts": "workbench.shown.limits",
    "Comparison": "workbench.shown.comparison",
    "Config": "workbench.config",
    "Doctor": "workbench.diagnosis",
    "DynamicInt8": "workbench.config",
    "Explanation": "workbench.shown.explanation",
    "Float16": "workbench.config",
    "Fusions": "workbench.shown.fusions",
    "Given": "workbench.config",
    "Kept": "workbench.shown.kept",
    "LayerErrors": "workbench.shown.layers",
    "Levels": "workbench.shown.levels",
    "Limits": "workbench.measure.limits",
    "Memory": "workbench.shown.limits",
    "MemorySettings": "workbench.shown.limits",
    "Peaks": "workbench.shown.limits",
    "Pictures": "workbench.prepare.pictures",
    "Prepared": "workbench.prepare.preparing",
    "Profile": "workbench.shown.profile",
    "Proposal": "workbench.shown.layers",
    "Provider": "workbench.config",
    "Roofline": "workbench.shown.limits",
    "Sensitivity": "workbench.shown.layers",
    "StaticInt8": "workbench.config",
    "Threads": "workbench.shown.limits",
    "TransformerFusion": "workbench.config",
    "WeightOnly": "workbench.config",
    "WhySlower": "workbench.shown.why",
    "Workbench": "workbench.panels.app",
    "ablate": "workbench.results_explain",
    "accuracy": "workbench.results_accuracy",
    "cold_start": "workbench.results_profile",
    "compare": "workbench.results",
    "doctor": "workbench.diagnosis",
    "exclude_for": "workbench.results_layers",
    "explain": "workbench.results_explain",
    "export_html": "workbench.shown.exporting",
    "history": "workbench.results",
    "keep_if_better": "workbench.results_precision",
    "layer_errors": "workbench.results_layers",
    "levels": "workbench.results_explain",
    "load": "workbench.models",
    "memory": "workbench.results_profile",
    "memory_settings": "workbench.results_profile",
    "open": "workbench.results",
    "peaks": "workbench.results_profile",
    "prepare": "workbench.prepare.preparing",
    "profile": "workbench.results_profile",
    "read_profile": "workbench.results_profile",
    "roofline": "workbench.results_profile",
    "samples": "workbench.models.samples",
    "sensitivity": "workbench.results_layers",
    "threads": "workbench.results_profile",
    "why_slower": "workbench.results_precision",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "workbench.errors")), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})


class _Package(type(sys)):  # type: ignore[misc]  # types.ModuleType, without an import
    """`import workbench.explain.…` would put the folder in the place of the function `wb.explain`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
