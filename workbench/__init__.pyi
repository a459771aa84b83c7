"""The public names of `workbench`, each with its module: for type checkers and for `__init__.py`."""

# ruff: isort: skip_file
from workbench._version import __version__ as __version__
from workbench.apps import course as course
from workbench.features.compare.call import history as history, open as open
from workbench.features.accuracy.layers_call import exclude_for as exclude_for
from workbench.features.profile.calls import read_profile as read_profile
from workbench.features.base.storage import export_html as export_html, storage as storage
from workbench.features.tune.call import default_space as default_space
from workbench.core.config import (
    Config as Config,
    DynamicInt8 as DynamicInt8,
    Engine as Engine,
    Float16 as Float16,
    GenAi as GenAi,
    OpenVino as OpenVino,
    PreparedModel as PreparedModel,
    Provider as Provider,
    PyTorch as PyTorch,
    StaticInt8 as StaticInt8,
    TensorRt as TensorRt,
    TransformerFusion as TransformerFusion,
    WeightOnly as WeightOnly,
)
from workbench.features.doctor import Doctor as Doctor, doctor as doctor
from workbench.core.errors import (
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
from workbench.features.pipelines.pipeline import Pipeline as Pipeline
from workbench.features.remote.calls import on as on
from workbench.core.measure.limits import Limits as Limits
from workbench.core.measure.opening import load as load
from workbench.core.models.samples import samples as samples
from workbench.apps.panels.app import Workbench as Workbench
from workbench.apps.panels.magic import load_ipython_extension as load_ipython_extension
from workbench.core.prepare.pictures import Pictures as Pictures
from workbench.core.prepare.preparing import Prepared as Prepared, prepare as prepare
from workbench.core.bundle.goal import Goal as Goal
from workbench.features.tune.space import Space as Space
from workbench.features.findings.result import Finding as Finding
from workbench.features.findings.fix_result import FixResult as FixResult
from workbench.features.explain.fusions import Fusions as Fusions
from workbench.features.accuracy.sensitivity_result import Proposal as Proposal
from workbench.features.base.storage import Storage as Storage

# Of each feature, its call and its result: written by `python -m workbench.features.base.written`.
from workbench.features.compare.call import compare as compare
from workbench.features.compare.result import Comparison as Comparison
from workbench.features.measure import measure as measure
from workbench.features.measure import Measurement as Measurement
from workbench.features.grid.calls import sweep as sweep
from workbench.features.grid.sweep import Sweep as Sweep
from workbench.features.grid.calls import matrix as matrix
from workbench.features.grid.matrix import Matrix as Matrix
from workbench.features.explain.model_files import ModelFiles as ModelFiles
from workbench.features.explain.calls import explain as explain
from workbench.features.explain.result import Explanation as Explanation
from workbench.features.profile.calls import profile as profile
from workbench.features.profile.result import Profile as Profile
from workbench.features.variants.levels import levels as levels
from workbench.features.variants.levels import Levels as Levels
from workbench.features.variants.worth import ablate as ablate
from workbench.features.variants.worth import Ablation as Ablation
from workbench.features.variants.versions import compare_versions as compare_versions
from workbench.features.variants.versions import Versions as Versions
from workbench.features.published import published as published
from workbench.features.published import Published as Published
from workbench.features.accuracy.result import accuracy as accuracy
from workbench.features.accuracy.result import AccuracyTable as AccuracyTable
from workbench.features.why_slower.call import why_slower as why_slower
from workbench.features.why_slower.result import WhySlower as WhySlower
from workbench.features.accuracy.first_difference import first_difference as first_difference
from workbench.features.accuracy.first_difference import FirstDifference as FirstDifference
from workbench.features.accuracy.layers_call import layer_errors as layer_errors
from workbench.features.accuracy.layers_result import LayerErrors as LayerErrors
from workbench.features.accuracy.layers_call import sensitivity as sensitivity
from workbench.features.accuracy.sensitivity_result import Sensitivity as Sensitivity
from workbench.features.profile.calls import memory as memory
from workbench.features.profile.memory.result import Memory as Memory
from workbench.features.cold_start import cold_start as cold_start
from workbench.features.cold_start import ColdStarts as ColdStarts
from workbench.features.variants.memory_settings import memory_settings as memory_settings
from workbench.features.variants.memory_settings import MemorySettings as MemorySettings
from workbench.features.profile.calls import roofline as roofline
from workbench.features.profile.roofline.result import Roofline as Roofline
from workbench.features.variants.threads import threads as threads
from workbench.features.variants.threads import Threads as Threads
from workbench.features.load.call import load_test as load_test
from workbench.features.load.result import LoadTest as LoadTest
from workbench.features.replay import replay as replay
from workbench.features.replay import Replay as Replay
from workbench.features.decode.call import decode as decode
from workbench.features.decode.result import Decoding as Decoding
from workbench.features.pipelines.call import measure_pipelines as measure_pipelines
from workbench.features.pipelines.result import Pipelines as Pipelines
from workbench.features.profile.calls import peaks as peaks
from workbench.features.profile.roofline.peaks_result import Peaks as Peaks
from workbench.features.findings.result import findings as findings
from workbench.features.findings.result import Findings as Findings
from workbench.features.improve.result import improve as improve
from workbench.features.improve.result import Improvement as Improvement
from workbench.features.deploy.result import deploy as deploy
from workbench.features.deploy.result import Deployment as Deployment
from workbench.features.tune.call import tune as tune
from workbench.features.tune.result import Study as Study
