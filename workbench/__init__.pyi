"""The public names of `workbench`, each with its module: for type checkers and for `__init__.py`."""

from workbench._version import __version__ as __version__
from workbench.api.accuracy import accuracy as accuracy
from workbench.api.advising import findings as findings
from workbench.api.advising import improve as improve
from workbench.api.comparing import compare as compare
from workbench.api.comparing import history as history
from workbench.api.comparing import open as open
from workbench.api.explaining import ablate as ablate
from workbench.api.explaining import explain as explain
from workbench.api.explaining import levels as levels
from workbench.api.exporting import export_html as export_html
from workbench.api.layers import (
    exclude_for as exclude_for,
)
from workbench.api.layers import (
    layer_errors as layer_errors,
)
from workbench.api.layers import (
    sensitivity as sensitivity,
)
from workbench.api.precision import keep_if_better as keep_if_better
from workbench.api.precision import why_slower as why_slower
from workbench.api.profiling import (
    cold_start as cold_start,
)
from workbench.api.profiling import (
    memory as memory,
)
from workbench.api.profiling import (
    memory_settings as memory_settings,
)
from workbench.api.profiling import (
    peaks as peaks,
)
from workbench.api.profiling import (
    profile as profile,
)
from workbench.api.profiling import (
    read_profile as read_profile,
)
from workbench.api.profiling import (
    roofline as roofline,
)
from workbench.api.profiling import (
    threads as threads,
)
from workbench.api.storage import storage as storage
from workbench.config import (
    BFloat16 as BFloat16,
)
from workbench.config import (
    Config as Config,
)
from workbench.config import (
    DynamicInt8 as DynamicInt8,
)
from workbench.config import (
    Float16 as Float16,
)
from workbench.config import (
    PreparedModel as PreparedModel,
)
from workbench.config import (
    Provider as Provider,
)
from workbench.config import (
    StaticInt8 as StaticInt8,
)
from workbench.config import (
    TransformerFusion as TransformerFusion,
)
from workbench.config import (
    WeightOnly as WeightOnly,
)
from workbench.diagnosis import Doctor as Doctor
from workbench.diagnosis import doctor as doctor
from workbench.errors import (
    BundleError as BundleError,
)
from workbench.errors import (
    Cancelled as Cancelled,
)
from workbench.errors import (
    ConfigError as ConfigError,
)
from workbench.errors import (
    DownloadError as DownloadError,
)
from workbench.errors import (
    HistoryError as HistoryError,
)
from workbench.errors import (
    InputError as InputError,
)
from workbench.errors import (
    MetricError as MetricError,
)
from workbench.errors import (
    ModelError as ModelError,
)
from workbench.errors import (
    PrepareError as PrepareError,
)
from workbench.errors import (
    ProfileError as ProfileError,
)
from workbench.errors import (
    RunFailed as RunFailed,
)
from workbench.errors import (
    StorageError as StorageError,
)
from workbench.errors import (
    WorkbenchError as WorkbenchError,
)
from workbench.errors import (
    WorkerError as WorkerError,
)
from workbench.measure.limits import Limits as Limits
from workbench.models import load as load
from workbench.models.samples import samples as samples
from workbench.panels.app import Workbench as Workbench
from workbench.preparation.pictures import Pictures as Pictures
from workbench.preparation.preparing import Prepared as Prepared
from workbench.preparation.preparing import prepare as prepare
from workbench.results.ablation import Ablation as Ablation
from workbench.results.accuracy import AccuracyTable as AccuracyTable
from workbench.results.cold_start import ColdStarts as ColdStarts
from workbench.results.comparison import Comparison as Comparison
from workbench.results.explanation import Explanation as Explanation
from workbench.results.findings import Finding as Finding
from workbench.results.findings import Findings as Findings
from workbench.results.findings import FixResult as FixResult
from workbench.results.fusions import Fusions as Fusions
from workbench.results.improvement import Improvement as Improvement
from workbench.results.keep_decision import KeepDecision as KeepDecision
from workbench.results.layer_errors import (
    LayerErrors as LayerErrors,
)
from workbench.results.levels import Levels as Levels
from workbench.results.memory import Memory as Memory
from workbench.results.memory_settings import MemorySettings as MemorySettings
from workbench.results.peaks import Peaks as Peaks
from workbench.results.profile import Profile as Profile
from workbench.results.roofline import Roofline as Roofline
from workbench.results.sensitivity import (
    Proposal as Proposal,
)
from workbench.results.sensitivity import (
    Sensitivity as Sensitivity,
)
from workbench.results.storage import Storage as Storage
from workbench.results.thread_scaling import Threads as Threads
from workbench.results.why_slower import WhySlower as WhySlower
