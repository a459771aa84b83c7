"""The course: predict, measure, check, and compare with the article. For lessons in a notebook.

>>> from workbench import course
>>> course.seconds(20) <= 20
True
"""

from workbench.course.article import article_table, compare_with_article
from workbench.course.article_cells import (
    fusion_levels,
    issue_cells,
    level_cells,
    option_cells,
    option_defaults,
    precision_cells,
    provider_cells,
)
from workbench.course.checking import CheckResult, check
from workbench.course.conv_kinds import ConvKinds, conv_kinds
from workbench.course.effect import SeenEffect, effect
from workbench.course.equal_configs import EqualConfigs, equal_configs
from workbench.course.gpu_runs import GpuRuns, gpu_runs
from workbench.course.level_steps import LevelSteps, level_steps
from workbench.course.nets import conv_net, encoder, split_graph
from workbench.course.predicted_parts import PredictedParts, predicted_parts
from workbench.course.prediction import Prediction, predict
from workbench.course.progress import Progress, progress, reset, seconds
from workbench.course.proof import Proof, proof
from workbench.course.saved_pairs import SavedPair, saved_pairs
from workbench.course.speed_and_accuracy import SpeedAndAccuracy, speed_and_accuracy

__all__ = [
    "CheckResult",
    "ConvKinds",
    "EqualConfigs",
    "GpuRuns",
    "LevelSteps",
    "PredictedParts",
    "Prediction",
    "Progress",
    "Proof",
    "SavedPair",
    "SeenEffect",
    "SpeedAndAccuracy",
    "article_table",
    "check",
    "compare_with_article",
    "conv_kinds",
    "conv_net",
    "effect",
    "encoder",
    "equal_configs",
    "fusion_levels",
    "gpu_runs",
    "issue_cells",
    "level_cells",
    "level_steps",
    "option_cells",
    "option_defaults",
    "precision_cells",
    "predict",
    "predicted_parts",
    "progress",
    "proof",
    "provider_cells",
    "reset",
    "saved_pairs",
    "seconds",
    "speed_and_accuracy",
    "split_graph",
]
