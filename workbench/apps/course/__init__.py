"""The course: predict, measure, check, and compare with the article. For lessons in a notebook.

>>> from workbench import course
>>> course.seconds(20) <= 20
True
"""

from sample_models.drawn_nets import conv_net, encoder, split_graph
from workbench.apps.course.article import article_table, compare_with_article
from workbench.apps.course.article_cells import (
    fusion_levels,
    issue_cells,
    level_cells,
    option_cells,
    option_defaults,
    precision_cells,
    provider_cells,
)
from workbench.apps.course.checking import check
from workbench.apps.course.convolution_lesson import conv_kinds
from workbench.apps.course.decision import decision, rubric
from workbench.apps.course.effect import effect
from workbench.apps.course.gpu_runs import gpu_runs
from workbench.apps.course.hand_in import hand_in
from workbench.apps.course.int8_lesson import SpeedAndAccuracy, speed_and_accuracy
from workbench.apps.course.level_lesson import LevelSteps, level_steps
from workbench.apps.course.measuring_lesson import EqualConfigs, equal_configs, saved_pairs
from workbench.apps.course.prediction import Prediction, predict
from workbench.apps.course.progress import LessonProgress, progress, reset, seconds
from workbench.apps.course.provider_lesson import predicted_parts
from workbench.apps.course.tuning_lesson import proof

__all__ = [
    "EqualConfigs", "LessonProgress", "LevelSteps", "Prediction", "SpeedAndAccuracy", "article_table",
    "check", "compare_with_article", "conv_kinds", "conv_net", "decision", "effect", "encoder",
    "equal_configs", "fusion_levels", "gpu_runs", "hand_in", "issue_cells", "level_cells", "level_steps",
    "option_cells", "option_defaults", "precision_cells", "predict", "predicted_parts", "progress", "proof",
    "provider_cells", "reset", "rubric", "saved_pairs", "seconds", "speed_and_accuracy", "split_graph",
]  # fmt: skip
