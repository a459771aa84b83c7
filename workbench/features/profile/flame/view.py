"""The flame view: one profile, or two on one time scale, as icicles; what is selected is linked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import traitlets as t

from workbench.core.bundle.display import data_frame
from workbench.core.errors import ProfileError
from workbench.drawing.canvas.base import View
from workbench.features.profile.difference.changes import Difference, difference
from workbench.features.profile.difference.joining import in_the_names_of
from workbench.features.profile.flame.frames import Picture
from workbench.features.profile.flame.payload import payload
from workbench.features.profile.flame.pictures import ProfiledRun, heading, pictures, sentence
from workbench.features.profile.flame.still import flame_scene
from workbench.features.profile.session_profile import SessionProfile

if TYPE_CHECKING:
    import pandas as pd

    from workbench.drawing.scene import Scene
    from workbench.features.explain.explanation import Explained

Way = Literal["difference", "module", "operator", "time"]


class FlameView(View):
    """Where the time goes. `selected` holds names of nodes, `way` is the picture that is shown."""

    script: ClassVar[str] = "flame"
    own_state: ClassVar[tuple[str, ...]] = ("way", "color")

    way = t.Unicode("module").tag(sync=True)
    color = t.Unicode("operator").tag(sync=True)  # or "provider", "change"

    def __init__(
        self,
        shown: Sequence[ProfiledRun],
        difference: Difference | None = None,
        *,
        way: Way | None = None,
        **traits: Any,
    ) -> None:
        self.shown, self.difference = tuple(shown), difference
        self.pictures = pictures(shown, difference)
        self._sentence = sentence(self.shown, difference)
        header, columns = payload(self.pictures)
        super().__init__(
            {**header, "told": self._sentence, "heading": heading(self.shown, difference)},
            columns,
            way=self.picture_of(way or self.pictures[0].key).key,
            **traits,
        )

    def picture_of(self, way: str) -> Picture:
        """Return the data of a picture."""
        picture = next((picture for picture in self.pictures if picture.key == way), None)
        if picture is None:
            known = ", ".join(picture.key for picture in self.pictures)
            raise ProfileError(f"there is no picture {way!r} of these profiles", f"the ways are: {known}")
        return picture

    def to_frame(self, way: Way | None = None) -> pd.DataFrame:
        """Return the boxes of a picture as a table; of the difference a row for each group of nodes."""
        picture = self.picture_of(way or self.way)
        if picture.key == "difference" and self.difference is not None:
            return self.difference.to_frame()
        rows = [
            (pane.title, frames.depth[row], kind.name.lower(), text, frames.text(frames.op[row]),
             frames.text(frames.provider[row]), " > ".join(frames.path(row)[:-1]), frames.start_s[row],
             frames.width_s[row], frames.own_s[row], frames.calls[row], frames.change_s[row])
            for pane in picture.panes
            for frames in (pane.frames,)
            for row, text, kind in frames.rows()
        ]  # fmt: skip
        columns = ["pane", "depth", "kind", "name", "op_type", "provider", "inside", "start_s", "total_s",
                   "self_s", "calls", "change_s"]  # fmt: skip
        return data_frame(rows, columns=columns)

    def still(self) -> Scene:
        """Draw the current picture with the names of its widest boxes."""
        return flame_scene(self.picture_of(self.way), str(self))

    def __str__(self) -> str:
        return self._sentence


def flame_view(profile: SessionProfile, *, label: str = "", way: Way | None = None) -> FlameView:
    """Show one profile."""
    return FlameView((ProfiledRun(label or "run", profile),), way=way)


def flame_of_two(
    a: SessionProfile,
    b: SessionProfile,
    explained_a: Explained | None = None,
    explained_b: Explained | None = None,
    *,
    known: Difference | None = None,
    labels: tuple[str, str] = ("A", "B"),
    way: Way | None = None,
) -> FlameView:
    """Show A above B; with both explanations or a known difference, also where the milliseconds went."""
    a = a if explained_a is None else in_the_names_of(explained_a, a)
    b = b if explained_b is None else in_the_names_of(explained_b, b)
    if known is None and explained_a is not None and explained_b is not None:
        known = difference(a, b, explained_a, explained_b)
    return FlameView((ProfiledRun(labels[0], a), ProfiledRun(labels[1], b)), known, way=way)
