"""The public names of `workbench`, each with its module: for type checkers and for `__init__.py`."""

# ruff: isort: skip_file
from workbench._version import __version__ as __version__
from workbench.api.accuracy import accuracy as accuracy
from workbench.api.advising import findings as findings, improve as improve
from workbench.api.comparing import compare as compare, history as history, open as open
from workbench.api.deploying import deploy as deploy
from workbench.api.decoding import decode as decode
from workbench.api.explaining import ablate as ablate, explain as explain, levels as levels
from workbench.api.layers import (
    exclude_for as exclude_for,
    layer_errors as layer_errors,
    sensitivity as sensitivity,
)
from workbench.api.matrix import matrix as matrix
from workbench.api.measuring import measure as measure
from workbench.api.precision import why_slower as why_slower
from workbench.api.profiling import (
    cold_start as cold_start,
    memory as memory,
    memory_settings as memory_settings,
    peaks as peaks,
    profile as profile,
    read_profile as read_profile,
    roofline as roofline,
    threads as threads,
)
from workbench.api.serving import load_test as load_test
from workbench.api.storage import export_html as export_html, storage as storage
from workbench.api.sweeping import sweep as sweep
from workbench.api.tuning import default_space as default_space, tune as tune
from workbench.api.versions import compare_versions as compare_versions
from workbench.config import (
    BFloat16 as BFloat16,
    Config as Config,
    DynamicInt8 as DynamicInt8,
    Engine as Engine,
    Float16 as Float16,
    OpenVino as OpenVino,
    PreparedModel as PreparedModel,
    Provider as Provider,
    PyTorch as PyTorch,
    StaticInt8 as StaticInt8,
    TensorRt as TensorRt,
    TransformerFusion as TransformerFusion,
    WeightOnly as WeightOnly,
)
from workbench.diagnosis import Doctor as Doctor, doctor as doctor
from workbench.errors import (
    BundleError as BundleError,
    Cancelled as Cancelled,
    ClusterError as ClusterError,
    ConfigError as ConfigError,
    DeployError as DeployError,
    DownloadError as DownloadError,
    HistoryError as HistoryError,
    InputError as InputError,
    MetricError as MetricError,
    ModelError as ModelError,
    PrepareError as PrepareError,
    ProfileError as ProfileError,
    RunFailed as RunFailed,
    StorageError as StorageError,
    WorkbenchError as WorkbenchError,
    WorkerError as WorkerError,
)
from workbench.features.remote.calls import on as on
from workbench.measurement.limits import Limits as Limits
from workbench.models import load as load
from workbench.models.samples import samples as samples
from workbench.panels.app import Workbench as Workbench
from workbench.preparation.pictures import Pictures as Pictures
from workbench.preparation.preparing import Prepared as Prepared, prepare as prepare
from workbench.records.goal import Goal as Goal
from workbench.records.space import Space as Space
from workbench.results.ablation import Ablation as Ablation
from workbench.results.accuracy import AccuracyTable as AccuracyTable
from workbench.results.cold_start import ColdStarts as ColdStarts
from workbench.results.comparison import Comparison as Comparison
from workbench.results.deployment import Deployment as Deployment
from workbench.results.decoding import Decoding as Decoding
from workbench.results.explanation import Explanation as Explanation
from workbench.results.findings import Finding as Finding, Findings as Findings
from workbench.results.fix_result import FixResult as FixResult
from workbench.results.fusions import Fusions as Fusions
from workbench.results.improvement import Improvement as Improvement
from workbench.results.layer_errors import LayerErrors as LayerErrors
from workbench.results.levels import Levels as Levels
from workbench.results.matrix import Matrix as Matrix
from workbench.results.measurement import Measurement as Measurement
from workbench.results.load_test import LoadTest as LoadTest
from workbench.results.memory import Memory as Memory
from workbench.results.memory_settings import MemorySettings as MemorySettings
from workbench.results.model_files import ModelFiles as ModelFiles
from workbench.results.peaks import Peaks as Peaks
from workbench.results.profile import Profile as Profile
from workbench.results.roofline import Roofline as Roofline
from workbench.results.sensitivity import Proposal as Proposal, Sensitivity as Sensitivity
from workbench.results.storage import Storage as Storage
from workbench.results.sweep import Sweep as Sweep
from workbench.results.study import Study as Study
from workbench.results.thread_scaling import Threads as Threads
from workbench.results.versions import Versions as Versions
from workbench.results.why_slower import WhySlower as WhySlower
