"""A card: what a front end shows of a result, a figure, a view or a table, made when it is first shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from workbench.core.bundle.display import DataFrame
from workbench.core.config import Config


class Held(Protocol):
    """What a front end holds, from which cards are made."""

    @property
    def result(self) -> Any: ...  # the comparison; None: there is none
    @property
    def dims(self) -> Any: ...  # pairs of a free dimension and its size
    def held_parts(self, kind: str) -> dict[str, Any]: ...  # further results of a kind by label
    def whole_part(self, kind: str) -> Any | None: ...  # the further result of a kind about all runs


@dataclass(frozen=True, slots=True)
class ConfigUse:
    """A config to take over: `words` say what changes, `place` is the label of the config that it changes."""

    place: str
    words: str
    hint: str
    changed: Callable[[Config], Config]


@dataclass(frozen=True, slots=True)
class PickTable:
    """A table with a drawer, beside it or below it, that has the details of the picked row.

    Details are HTML, views, configs to take over, or several of these in a row.
    """

    frame: DataFrame
    caption: str
    details: Callable[[str], Sequence[Any]]  # by the text in the first column
    below: bool = False
    under: str | None = None  # a column that stands below the first one, in small letters
    nodes: Callable[[str], Sequence[str]] | None = None  # those of a row, to select in every view
    empty: str = ""  # what stands there without a row


@dataclass(frozen=True, slots=True)
class Card:
    """A figure and its table; `code` gives the figure from a `result`."""

    title: str
    code: str
    summary: str  # one sentence of numbers
    draw: Callable[[], Any] | None = None  # a plotly figure, a view, or a PickTable
    table: Callable[[], DataFrame] | None = None
    key: str | None = None  # the table's column of node names, for the linked selection
    draw_alone: Callable[[], Any] | None = None  # the figure without the banner above it
    part: str = ""  # the part of the result that it shows, such as "levels/B"; empty: the comparison itself
    below: Callable[[], str] | None = None  # HTML under the figure
    label: str = ""  # the config that it is about; cards of one title and several labels share a switch
    heading: str = ""  # its sentence, where the figure has none
    details: Callable[[str], Sequence[Any]] | None = None  # about a row of the table, by its key
    picks: Callable[[], PickTable] | None = None  # below the figure, whose points are rows by their names
    uses: Callable[[], Sequence[ConfigUse]] = tuple  # configs that the result proposes
    view: str = ""  # of a card of a comparison: the view in which it stands

    @property
    def name(self) -> str:
        """The title with the label."""
        return f"{self.title}, {self.label}" if self.label else self.title

    @property
    def kind(self) -> str:
        """The kind of result that it shows; empty: the comparison itself."""
        return self.part.partition("/")[0]


def figure_card(
    title: str, source: str, made: Any, method: str, table: Callable[[], Any] | None = None, **fields: Any
) -> Card:
    """Return the card of the figure that a method of a result draws; `source` is what gives the result."""
    card = Card(title, f"{source}.{method}()", str(made), getattr(made, method), table)
    return replace(card, **fields)


def part_card(kind: str, label: str, made: Any, code: str = "", **fields: Any) -> Card:
    """Return the card of a further result with its figure and its table; `code` is what gives the result."""
    part, names = (f"{kind}/{label}", f'"{kind}", "{label}"') if label else (kind, f'"{kind}"')
    source = code or f"result.made({names})"
    fields = {"part": part, "label": label, "uses": made.uses, **fields}
    return figure_card(kind, source, made, "figure", made.to_frame, **fields)
