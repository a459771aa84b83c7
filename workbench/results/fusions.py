"""What was fused, before and after of each config, as notebooks hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.analysis.explanation import Explained

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene


class Fusions:
    """Counts of operators and of fusions: the source, and what each config made of it.

    >>> import workbench as wb
    >>> wb.Fusions.__name__
    'Fusions'
    """

    def __init__(self, explained: Mapping[str, Explained]) -> None:
        self.explained = dict(explained)  # by the label of the run

    def to_frame(self) -> pd.DataFrame:
        """One row a pattern: the source operators, what they became, the passes, how often in each run."""
        import pandas as pd

        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for label, told in self.explained.items():
            for one in told.passes.statistics.fusions:
                key = (" + ".join(one.pattern), one.into)
                row = rows.setdefault(
                    key, {"pattern": key[0], "into": key[1], "passes": "", **dict.fromkeys(self.explained, 0)}
                )
                row[label] += one.count
                passes = dict.fromkeys([*filter(None, row["passes"].split(", ")), *one.passes])
                row["passes"] = ", ".join(passes)
        columns = ["pattern", "into", "passes", *self.explained]
        return pd.DataFrame(list(rows.values()), columns=columns)

    def ops_frame(self) -> pd.DataFrame:
        """One row an operator: how many nodes the source has, and each run."""
        import pandas as pd

        rows: dict[str, dict[str, Any]] = {}
        for label, told in self.explained.items():
            for one in told.passes.statistics.ops:
                row = rows.setdefault(
                    one.op_type, {"op_type": one.op_type, "source": 0, **dict.fromkeys(self.explained, 0)}
                )
                row["source"] = max(row["source"], one.before)
                row[label] = one.after
        frame = pd.DataFrame(list(rows.values()), columns=["op_type", "source", *self.explained])
        return frame.sort_values("source", ascending=False, ignore_index=True, kind="stable")

    def missed_frame(self) -> pd.DataFrame:
        """One row an expected fusion that did not happen, and the run that it is about."""
        import pandas as pd

        frames = [told.passes.missed_frame().assign(label=label) for label, told in self.explained.items()]
        return pd.concat(frames, ignore_index=True)

    def figure(self) -> go.Figure:
        """Operators of the source and of each run, the most frequent first."""
        from workbench.figures.fusions import fusions_figure

        return fusions_figure(self.explained, str(self))

    def still(self) -> Scene:
        """Nodes before and after, and what was fused most."""
        from workbench.figures.pictures import fusions_scene

        found = {label: told.passes.statistics for label, told in self.explained.items()}
        return fusions_scene(found, str(self))

    def __str__(self) -> str:
        name = next(iter(self.explained.values())).model_name
        return f"{name}: " + "; ".join(_sentence(label, told) for label, told in self.explained.items())

    def __repr__(self) -> str:
        return f"<Fusions: {self}>"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        from workbench.figures.cell import as_cell

        return as_cell(str(self), self.still(), self.figure())


def _sentence(label: str, told: Explained) -> str:
    numbers = told.passes.statistics
    share = numbers.fused_share
    fused = "" if share is None else f", {numbers.fused_nodes} of them fused ({share * 100:.0f} %)"
    return f"{label}: {numbers.source_nodes} nodes became {numbers.optimized_nodes}{fused}"
