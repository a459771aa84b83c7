"""The course: predict, measure, check, and compare with the article. For lessons in a notebook.

>>> from workbench import course
>>> course.seconds(20) <= 20
True
"""

from sample_models.drawn_nets import conv_net, encoder, split_graph
from sample_models.drawn_pairs import saved_pairs
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
from workbench.apps.course.decision import decision, rubric
from workbench.apps.course.effect import effect
from workbench.apps.course.equal_configs import equal_configs
from workbench.apps.course.gpu_runs import gpu_runs
from workbench.apps.course.hand_in import hand_in
from workbench.apps.course.prediction import predict
from workbench.apps.course.progress import progress, reset, seconds

__all__ = [
    "article_table", "check", "compare_with_article", "conv_net", "decision", "effect", "encoder",
    "equal_configs", "fusion_levels", "gpu_runs", "hand_in", "issue_cells", "level_cells", "option_cells",
    "option_defaults", "precision_cells", "predict", "progress", "provider_cells", "reset", "rubric",
    "saved_pairs", "seconds", "split_graph",
]  # fmt: skip
