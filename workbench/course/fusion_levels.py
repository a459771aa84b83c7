"""At which level each fusion of the article's list happens here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.course.article import article_table

if TYPE_CHECKING:
    from workbench.results.explanation import Explanation

TABLE = "fusion-patterns"
LEVEL_NAMES = {1: "basic", 2: "extended", 3: "layout", 4: "all"}
NOT_FIRED = "did not fire in these models"


def fusion_levels(*explanations: Explanation) -> dict[str, str]:
    """Return the passes that fired for each fusion of the article's list with their level, by cell.

    >>> from workbench import course
    >>> len(course.fusion_levels())
    10
    """
    fired = [step for explanation in explanations for step in explanation.passes.fired]
    table = article_table(TABLE)
    levels = {}
    for row in table.rows:
        wanted = str(row[table.columns.index("passes")]).split(", ")
        steps = {(step.level, step.name) for step in fired if step.name in wanted}
        texts = (f"{LEVEL_NAMES.get(level, level)}: {name}" for level, name in sorted(steps))
        levels[f"{TABLE}/{row[0]}/article_level"] = "; ".join(texts) or NOT_FIRED
    return levels
